// Fetching and acknowledging events.
#include <rdma/rdma_cma.h>

#include "cm/c_api/request_pace.h"
#include "cm/event.h"
#include "cm/event_channel.h"
#include "transport/event_name.h"
#include "verbs/c_api/c_result.h"
#include "verbs/c_api/process.h"

using namespace anyrdma::c_api;
using anyrdma::cm::Event;
using anyrdma::cm::EventChannel;

extern "C" {

// Waits in read(2) on the channel's descriptor and holds no lock there: a thread may be cancelled.
int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  if (channel == nullptr || event == nullptr) return fail(EINVAL);
  return minus_one_on_error([&]() -> Result<void> {
    (void)RequestPace::wait();
    EventChannel& source = EventChannel::from(channel);
    auto fetched = source.get();
    if (!fetched) return fetched.error();
    // Where there are no descriptors (simulator) there are no threads to pace either.
    if (fetched->type() == RDMA_CM_EVENT_CONNECT_REQUEST && source.fd() >= 0) {
      RequestPace::handed_out(fetched->raw().id);
    }
    if (fetched->type() == RDMA_CM_EVENT_CONNECT_REQUEST) {
      note_made(Inventory::Kind::kId, fetched->raw().id);
    }
    *event = fetched->release();  // the application's, until it acknowledges it
    return {};
  });
}

int rdma_ack_cm_event(rdma_cm_event* event) {
  return minus_one_on_error([&] { return Event::ack(event); });
}

// As event_name().
__attribute__((no_sanitize("undefined"))) const char* rdma_event_str(rdma_cm_event_type event) {
  return anyrdma::transport::event_name(event);
}

}  // extern "C"
