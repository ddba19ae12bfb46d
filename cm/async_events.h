// Forwards IBV_EVENT_COMM_EST to ids: if the RTU is late or lost, the peer's first message shows
// that the connection is established.
#pragma once

#include <infiniband/verbs.h>

#include "cm/event_channel.h"
#include "verbs/result.h"

namespace anyrdma::cm {

/// Reads the asynchronous events of the device `verbs` and calls EventChannel::notify for each
/// IBV_EVENT_COMM_EST, as kernel consumers do in their QP's event handler. All events are
/// acknowledged; other events are dropped. Only one reader of a device's events may exist, so this
/// is opt-in.
///
/// The event is raised by messages that reach a QP before RTS. accept() moves id->qp to RTS before
/// it answers. So the event comes to programs that keep a QP of their own in RTR until ESTABLISHED.
///
/// Blocks: call it in a thread or fiber of its own. Returns only with an error of
/// ibv_get_async_event: EAGAIN if the descriptor is non-blocking and there is no event, EINTR,
/// EDEADLK.
[[nodiscard]] Result<void> forward_async_events(ibv_context& verbs, EventChannel& channel);

}  // namespace anyrdma::cm
