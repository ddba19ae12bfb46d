// RAII classes for protection domains and for memory regions.
#pragma once

#include <cstddef>

#include "verbs/handle.h"

namespace anyrdma::verbs {

/// Owns an ibv_pd. Queue pairs and memory regions work together only within one protection domain.
class ProtectionDomain : public Handle<ibv_pd, &Provider::dealloc_pd> {
 public:
  using Handle::Handle;
  /// EINVAL: null context; ENOMEM: too many domains.
  [[nodiscard]] static Result<ProtectionDomain> create(ibv_context* context);
};

/// Owns an ibv_mr. The memory itself stays the caller's and must outlive the registration.
class MemoryRegion : public Handle<ibv_mr, &Provider::dereg_mr> {
 public:
  using Handle::Handle;
  /// Registers memory. `access`: ibv_access_flags. EINVAL: null domain, null address with a length,
  /// or a combination of flags that is not allowed; ENOMEM: too many regions.
  [[nodiscard]] static Result<MemoryRegion> create(ibv_pd* pd, void* address, std::size_t length,
                                                   unsigned access);
  /// Returns a scatter/gather element for `length` bytes at `offset` of this region.
  [[nodiscard]] ibv_sge piece(std::size_t offset, std::uint32_t length) const;
};

}  // namespace anyrdma::verbs
