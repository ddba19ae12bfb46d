// Our librdmacm and libibverbs, over the transport of whichever party calls.
#pragma once

#include <rdma/rdma_cma.h>

#include "tests/conformance/calls.h"
#include "transport/transport.h"

namespace anyrdma::conformance::doors {

/// What this thread, or fiber until it sleeps, calls from now on goes through `transport`.
[[nodiscard]] const Calls& enter(transport::Transport& transport);
/// The next event, if there is one, where there is no descriptor to say so.
[[nodiscard]] rdma_cm_event* next_event(rdma_event_channel* channel);
/// As the end of the process that has it.
void end(rdma_event_channel* channel);
/// What was destroyed goes. Before the transports do.
void forget_the_buried();

}  // namespace anyrdma::conformance::doors
