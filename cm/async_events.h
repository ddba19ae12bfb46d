// The way of a queue pair's first message to its id: when the RTU is late or lost, the peer's data
// says as well that the connection stands.
#pragma once

#include <infiniband/verbs.h>

#include "cm/event_channel.h"
#include "verbs/result.h"

namespace anyrdma::cm {

/// Does for the ids of `channel` what kernel consumers do in their QP's event handler: reads the
/// asynchronous events of the device `verbs` and calls notify() for each IBV_EVENT_COMM_EST (see
/// EventChannel::notify). All events are acknowledged; the others go unheeded. Opt-in: nothing in
/// user space does so by itself, and who reads the events of a device is one.
/// The event is about messages that reach a QP before RTS. accept() takes id->qp to RTS before it
/// answers, so it comes to programs that keep a QP of their own in RTR until ESTABLISHED.
/// Blocks, so it needs a thread or a fiber of its own. Returns only errors, those of
/// ibv_get_async_event: EAGAIN (descriptor non-blocking and nothing there), EINTR, EDEADLK.
[[nodiscard]] Result<void> forward_async_events(ibv_context& verbs, EventChannel& channel);

}  // namespace anyrdma::cm
