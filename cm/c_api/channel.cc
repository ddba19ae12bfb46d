// Event channels.
#include <rdma/rdma_cma.h>

#include <memory>

#include "cm/event_channel.h"
#include "verbs/c_api/c_result.h"
#include "verbs/c_api/process.h"

using namespace anyrdma::c_api;
using anyrdma::cm::EventChannel;

extern "C" {

rdma_event_channel* rdma_create_event_channel() {
  return null_on_error([&]() -> Result<rdma_event_channel*> {
    const auto transport = process_transport();
    if (!transport) return transport.error();
    auto channel = EventChannel::create(**transport);
    if (!channel) return channel.error();
    note_made(Inventory::Kind::kChannel, (*channel)->raw());
    return channel->release()->raw();  // the application's, until it destroys it
  });
}

// A program may destroy a channel on which one of its threads still waits, or is about to (rping
// ends so). With librdmacm that thread reads from a descriptor that is gone and mostly gets away
// with it.
void rdma_destroy_event_channel(rdma_event_channel* channel) {
  if (channel == nullptr) return;
  (void)minus_one_on_error([&]() -> Result<void> {
    check_caller(EventChannel::from(channel).transport().runtime());
    note_gone(channel);
    const std::shared_ptr<EventChannel> owned(&EventChannel::from(channel));
    owned->close();
    bury(owned);
    return {};
  });
}

}  // extern "C"
