// Protection domains and the memory registered in them.
#pragma once

#include <cstddef>

#include "verbs/handle.h"

namespace anyrdma::verbs {

/// Owns an ibv_pd: what belongs together may use each other.
class ProtectionDomain : public Handle<ibv_pd, &Provider::dealloc_pd> {
 public:
  using Handle::Handle;
  /// EINVAL: null context; ENOMEM: too many.
  [[nodiscard]] static Result<ProtectionDomain> create(ibv_context* context);
};

/// Owns an ibv_mr. The memory itself stays the caller's and must outlive the registration.
class MemoryRegion : public Handle<ibv_mr, &Provider::dereg_mr> {
 public:
  using Handle::Handle;
  /// `access`: ibv_access_flags. EINVAL: null domain, null address with a length, or flags that do
  /// not go together; ENOMEM: too many.
  [[nodiscard]] static Result<MemoryRegion> create(ibv_pd* pd, void* address, std::size_t length,
                                                   unsigned access);
  /// A gather or scatter element within this region.
  [[nodiscard]] ibv_sge piece(std::size_t offset, std::uint32_t length) const;
};

}  // namespace anyrdma::verbs
