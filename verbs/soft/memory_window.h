// The calls of <infiniband/verbs.h> for memory windows.
#pragma once

#include <infiniband/verbs.h>

namespace anyrdma::verbs::soft {

/// Sets alloc_mw, bind_mw and dealloc_mw in the context's operations, and those of device_memory.h.
void install_memory_operations(verbs_context& context);

/// Whether a bind request names all objects that a binding needs. Whether the binding is allowed is
/// checked when the request is executed.
[[nodiscard]] bool is_whole_binding(const ibv_send_wr& request);

}  // namespace anyrdma::verbs::soft
