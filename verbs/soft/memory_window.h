// Memory windows as <infiniband/verbs.h> reaches them through a context's operations.
#pragma once

#include <infiniband/verbs.h>

namespace anyrdma::verbs::soft {

/// Fills alloc_mw, bind_mw and dealloc_mw, and what device_memory.h fills.
void install_memory_operations(verbs_context& context);

/// Whether a request to bind names all that a binding needs. Whether it is allowed turns out when
/// its turn comes.
[[nodiscard]] bool is_whole_binding(const ibv_send_wr& request);

}  // namespace anyrdma::verbs::soft
