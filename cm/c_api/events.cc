// Fetching and acknowledging events.
#include <rdma/rdma_cma.h>

#include <array>
#include <cstddef>

#include "cm/event.h"
#include "cm/event_channel.h"
#include "verbs/c_api/c_result.h"

namespace {

// In the order of the enumerators; programs log them.
constexpr std::array kNames{
    "RDMA_CM_EVENT_ADDR_RESOLVED",   "RDMA_CM_EVENT_ADDR_ERROR",
    "RDMA_CM_EVENT_ROUTE_RESOLVED",  "RDMA_CM_EVENT_ROUTE_ERROR",
    "RDMA_CM_EVENT_CONNECT_REQUEST", "RDMA_CM_EVENT_CONNECT_RESPONSE",
    "RDMA_CM_EVENT_CONNECT_ERROR",   "RDMA_CM_EVENT_UNREACHABLE",
    "RDMA_CM_EVENT_REJECTED",        "RDMA_CM_EVENT_ESTABLISHED",
    "RDMA_CM_EVENT_DISCONNECTED",    "RDMA_CM_EVENT_DEVICE_REMOVAL",
    "RDMA_CM_EVENT_MULTICAST_JOIN",  "RDMA_CM_EVENT_MULTICAST_ERROR",
    "RDMA_CM_EVENT_ADDR_CHANGE",     "RDMA_CM_EVENT_TIMEWAIT_EXIT",
};
static_assert(kNames.size() == RDMA_CM_EVENT_TIMEWAIT_EXIT + 1);

}  // namespace

using namespace anyrdma::c_api;
using anyrdma::cm::Event;
using anyrdma::cm::EventChannel;

extern "C" {

// Waits in read(2) on the channel's descriptor and holds no lock there: a thread may be cancelled.
int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  if (channel == nullptr || event == nullptr) return fail(EINVAL);
  return minus_one_on_error([&]() -> Result<void> {
    auto fetched = EventChannel::from(channel).get();
    if (!fetched) return fetched.error();
    *event = fetched->release();  // the application's, until it acknowledges it
    return {};
  });
}

int rdma_ack_cm_event(rdma_cm_event* event) {
  return minus_one_on_error([&] { return Event::ack(event); });
}

const char* rdma_event_str(rdma_cm_event_type event) {
  const auto index = static_cast<std::size_t>(event);
  return index < kNames.size() ? kNames[index] : "UNKNOWN EVENT";
}

}  // extern "C"
