// The calls of <infiniband/verbs.h> for memory windows.
#pragma once

#include <infiniband/verbs.h>

namespace anyrdma::verbs::soft {

/// Sets alloc_mw, bind_mw and dealloc_mw in the context's operations, and the operations of
/// device_memory.h.
void install_memory_operations(verbs_context& context);

/// Whether a bind request has pointers to all objects that a binding needs. When the request is
/// executed, the device checks whether the binding is allowed.
[[nodiscard]] bool is_whole_binding(const ibv_send_wr& request);

}  // namespace anyrdma::verbs::soft
