// What a host tells the trace, and what the fault plan tells it.
#include "sim/host.h"
#include "sim/world.h"

namespace anyrdma::sim {

void Host::on_mad_dropped(std::string_view, ibcm::DropReason reason, std::uint16_t attribute) {
  world_.trace().drop_message(now(), index_, reason, attribute);
}

void Host::on_event(Step step, std::uint64_t id, std::uint64_t listener,
                    const rdma_cm_event& event) {
  world_.trace().event(now(), index_, step, id, listener, event);
  if (world_.monitor() != nullptr) world_.monitor()->on_event(*this, step, id, listener, event);
  if (world_.faults().watches_events()) world_.faults().on_event(*this, step, id, event.event);
}

void Host::on_call(std::uint64_t id, std::string_view call, int error) {
  if (world_.monitor() != nullptr) world_.monitor()->on_call(*this, id, call, error);
  if (world_.faults().watches_calls()) world_.faults().on_call(*this, id, call);
}

std::optional<transport::soft::Admission::Refusal> Host::on_request(std::string_view,
                                                                    const ibcm::ReqParameters&) {
  return world_.faults().on_request(*this);
}

}  // namespace anyrdma::sim
