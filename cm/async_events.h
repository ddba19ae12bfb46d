// Passes IBV_EVENT_COMM_EST from a device to the id of its queue pair. If the RTU is late or lost,
// the peer's first message shows that the connection is established.
#pragma once

#include <infiniband/verbs.h>

#include "cm/event_channel.h"
#include "verbs/result.h"

namespace anyrdma::cm {

/// Reads the asynchronous events of the device `verbs`, and calls EventChannel::notify for each
/// IBV_EVENT_COMM_EST. Acknowledges all events, and drops the others. A device's events may have
/// only one reader, so a program must call this function itself.
///
/// The device raises IBV_EVENT_COMM_EST for a message that reaches a QP before RTS. Because
/// accept() moves id->qp to RTS before it answers, only programs that keep their own QP in RTR
/// until ESTABLISHED get the event.
///
/// forward_async_events() blocks: call it in a thread or fiber of its own. It returns only with an
/// error of ibv_get_async_event: EAGAIN if the descriptor is non-blocking and there is no event,
/// EINTR, EDEADLK.
[[nodiscard]] Result<void> forward_async_events(ibv_context& verbs, EventChannel& channel);

}  // namespace anyrdma::cm
