// Finds objects by handle for the ibv_import_* functions of the C API. An imported object is
// another name of an existing object, on another open context of the same device.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

#include "verbs/result.h"

namespace anyrdma::verbs::soft {

// Errors of all import functions in this file: EINVAL: no such handle; EOPNOTSUPP: the device is no
// software HCA. They may be called from any thread.

/// Imports a protection domain, and returns another ibv_pd for it. Objects that are made with the
/// result belong to the original domain, which cannot be freed before them. Free the result with
/// ibv_dealloc_pd. Source: ibv_import_pd(3).
[[nodiscard]] Result<ibv_pd*> import_pd(ibv_context* context, std::uint32_t handle);
/// Imports a memory region, and returns another ibv_mr with its keys. Free the result with
/// `delete`; the region must outlive it. Source: ibv_import_mr(3).
[[nodiscard]] Result<ibv_mr*> import_mr(ibv_pd* pd, std::uint32_t handle);
/// Imports device memory, and returns another ibv_dm for it. The memory exists until its last
/// ibv_dm is freed. Source: ibv_import_dm(3).
[[nodiscard]] Result<ibv_dm*> import_dm(ibv_context* context, std::uint32_t handle);

}  // namespace anyrdma::verbs::soft
