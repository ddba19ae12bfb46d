// Objects by their handles, for the C API: more names for existing objects, on another open context
// of the device.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "verbs/result.h"

namespace anyrdma::verbs::soft {

// EINVAL: no such handle; EOPNOTSUPP: not a software device. Any thread.

/// Objects made with it belong to the original domain, which cannot be deallocated before. End it
/// with ibv_dealloc_pd. Source: ibv_import_pd(3).
[[nodiscard]] Result<ibv_pd*> import_pd(ibv_context* context, std::uint32_t handle);
/// The keys of a region. Ends with `delete`; the region must live as long. Source:
/// ibv_import_mr(3).
[[nodiscard]] Result<ibv_mr*> import_mr(ibv_pd* pd, std::uint32_t handle);
/// Device memory, which lives until the last of its names is freed. Source: ibv_import_dm(3).
[[nodiscard]] Result<ibv_dm*> import_dm(ibv_context* context, std::uint32_t handle);

}  // namespace anyrdma::verbs::soft
