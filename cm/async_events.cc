#include "cm/async_events.h"

#include "cm/id.h"
#include "verbs/provider.h"

namespace anyrdma::cm {

Result<void> forward_async_events(ibv_context& verbs, EventChannel& channel) {
  verbs::Provider& provider = verbs::provider_of(&verbs);
  for (;;) {
    const Result<ibv_async_event> event = provider.get_async_event(&verbs);
    if (!event) return event.error();
    // Its errors: not an id's, or established meanwhile.
    (void)channel.notify(*event).has_value();
    provider.ack_async_event(*event);
  }
}

Result<void> EventChannel::notify(const ibv_async_event& event) {
  if (event.event_type != IBV_EVENT_COMM_EST) return verbs::errno_code(EINVAL);
  verbs::CriticalSection section(transport_.runtime());
  for (Id* id = first_id_; id != nullptr; id = id->next_) {
    if (id->speaks_for(*event.element.qp)) return id->notify_inside(event.event_type);
  }
  return verbs::errno_code(ENOENT);
}

}  // namespace anyrdma::cm
