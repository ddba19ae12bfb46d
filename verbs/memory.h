// RAII classes for protection domains and for memory regions.
#pragma once

#include <cstddef>

#include "verbs/handle.h"

namespace anyrdma::verbs {

/// Owns an ibv_pd. Only queue pairs and memory regions of the same protection domain work together.
class ProtectionDomain : public Handle<ibv_pd, &Provider::dealloc_pd> {
 public:
  using Handle::Handle;
  /// EINVAL: null context; ENOMEM: too many domains.
  [[nodiscard]] static Result<ProtectionDomain> create(ibv_context* context);
};

/// Owns an ibv_mr. The memory itself belongs to the caller, and must outlive the registration.
class MemoryRegion : public Handle<ibv_mr, &Provider::dereg_mr> {
 public:
  using Handle::Handle;
  /// Registers memory. `access`: ibv_access_flags. EINVAL: null domain, null address with a length
  /// that is not 0, or a combination of flags that is not allowed; ENOMEM: too many regions.
  [[nodiscard]] static Result<MemoryRegion> create(ibv_pd* pd, void* address, std::size_t length,
                                                   unsigned access);
  /// Returns a scatter/gather element for `length` bytes at `offset` of this region.
  [[nodiscard]] ibv_sge piece(std::size_t offset, std::uint32_t length) const;
};

}  // namespace anyrdma::verbs
