// Finds objects by handle for the ibv_import_* functions of the C API: an imported object is
// another name of an existing object, on another open context of the device.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "verbs/result.h"

namespace anyrdma::verbs::soft {

// Errors of the functions below: EINVAL: no such handle; EOPNOTSUPP: not a software device. Any
// thread.

/// Imports a protection domain. Objects that are made with the result belong to the original
/// domain, which cannot be freed before them. End the result with ibv_dealloc_pd. Source:
/// ibv_import_pd(3).
[[nodiscard]] Result<ibv_pd*> import_pd(ibv_context* context, std::uint32_t handle);
/// Imports a memory region: returns an ibv_mr with its keys. Free it with `delete`; the region must
/// outlive it. Source: ibv_import_mr(3).
[[nodiscard]] Result<ibv_mr*> import_mr(ibv_pd* pd, std::uint32_t handle);
/// Imports device memory, which exists until the last of its names is freed. Source:
/// ibv_import_dm(3).
[[nodiscard]] Result<ibv_dm*> import_dm(ibv_context* context, std::uint32_t handle);

}  // namespace anyrdma::verbs::soft
