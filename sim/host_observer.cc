#include "sim/host_observer.h"

#include <cstdio>
#include <string>
#include <typeinfo>

#include "sim/findings.h"
#include "sim/host.h"
#include "sim/monitor.h"
#include "sim/recorder.h"
#include "sim/world.h"
#include "transport/ibcm/names.h"

namespace anyrdma::sim {

HostObserver::HostObserver(Host& host) : host_(host), world_(host.world()), index_(host.index()) {}

void HostObserver::watch_transport() {
  host_.transport().set_admission(this);
  const bool recorded = world_.recorder() != nullptr;
  const bool watched = world_.stream() != nullptr;
  if (world_.trace().on() || recorded) host_.transport().set_observer(this);
  if (world_.trace().on() || watched || world_.faults().watches_events()) watch_events();
  if (watched || world_.faults().watches_calls()) watch_calls();
  if (world_.faults().watches_gate()) watch_gate();
}

void HostObserver::watch_events() {
  host_.transport().set_event_observer(this);
}

void HostObserver::watch_calls() {
  host_.transport().set_call_observer(this);
}

void HostObserver::watch_gate() {
  host_.transport().set_call_gate(this);
  for (const Interface& each : host_.interfaces()) {
    if (verbs::soft::Hca* const device = each.nic->device(); device != nullptr)
      device->set_call_gate(this);
  }
}

void HostObserver::leave_transport() {
  transport::soft::SoftTransport& transport = host_.transport();
  transport.set_observer(nullptr);
  transport.set_admission(nullptr);
  transport.set_event_observer(nullptr);
  transport.set_call_observer(nullptr);
  transport.set_call_gate(nullptr);
}

// --- records ------------------------------------------------------------------------------------

void HostObserver::on_mad_dropped(std::string_view, ibcm::DropReason reason,
                                  std::uint16_t attribute) {
  world_.trace().drop_message(world_.now(), index_, reason, attribute);
  if (world_.recorder() != nullptr)
    world_.recorder()->ignored(index_, ibcm::to_string(reason), attribute);
}

void HostObserver::on_event(Step step, std::uint64_t id, std::uint64_t listener,
                            const rdma_cm_event& event) {
  world_.trace().event(world_.now(), index_, step, id, listener, event);
  if (Recorder* const stream = world_.stream(); stream != nullptr)
    stream->ids(index_).on_event(step, id, listener, event);
  if (world_.faults().watches_events()) world_.faults().on_event(host_, step, id, event.event);
}

void HostObserver::on_call(std::uint64_t id, std::string_view call, int error) {
  if (Recorder* const stream = world_.stream(); stream != nullptr)
    stream->ids(index_).on_call(id, call, error);
  if (world_.faults().watches_calls()) world_.faults().on_call(host_, id, call);
}

void HostObserver::on_refused(std::uint64_t id, std::string_view call, int error) {
  if (Recorder* const stream = world_.stream(); stream != nullptr)
    stream->ids(index_).on_refused(id, call, error);
}

void HostObserver::on_acknowledged(std::uint64_t id) {
  if (Recorder* const stream = world_.stream(); stream != nullptr)
    stream->ids(index_).on_acknowledged(id);
}

void HostObserver::on_handshake(std::uint64_t id, const rdma_cm_id& raw, std::string_view call,
                                const transport::ConnectionParameters& given) {
  if (Recorder* const stream = world_.stream(); stream != nullptr)
    stream->ids(index_).on_handshake(id, raw, call, given);
}

void HostObserver::on_channels(int change) {
  if (world_.stream() != nullptr) world_.stream()->channels(index_, change);
}

// A process may have other runtimes besides simulated hosts.
bool HostObserver::on_misuse(verbs::Runtime& runtime, const verbs::Misuse& misuse) {
  if (typeid(runtime) != typeid(Host)) return false;
  const auto& host = static_cast<const Host&>(runtime);
  const std::string text = to_string(misuse) + " (" + runtime.describe(runtime.mark()) + ")";
  if (host.world().stream() != nullptr) host.world().stream()->mistake(host.index(), text);
  if (host.world().monitor() != nullptr) return true;  // a finding of it comes at the end
  if (!complain("misuse: " + host.name() + ": " + text)) {
    std::fprintf(stderr, "anyrdma: the program's mistake: %s: %s\n", host.name().c_str(),
                 text.c_str());
  }
  return true;
}

// --- before calls -------------------------------------------------------------------------------

int HostObserver::on_call(std::uint64_t id, std::string_view call) {
  if (gate_is_open_) return 0;
  return world_.faults().on_gate(host_, id, call);
}

ibv_wc_status HostObserver::on_work(const verbs::PostedWork& work) {
  return world_.faults().on_work(host_, work);
}

void HostObserver::on_failure(const ibv_wc& completion) {
  world_.faults().on_failure(completion);
}

void HostObserver::on_take() {
  if (slowness_ > Duration::zero() && Fibers::running() != nullptr) (void)host_.sleep(slowness_);
}

// --- requests -----------------------------------------------------------------------------------

void HostObserver::on_state(std::uint64_t id, std::string_view state) {
  if (Recorder* const stream = world_.stream(); stream != nullptr)
    stream->ids(index_).on_state(id, state);
  if (world_.faults().watches_calls()) world_.faults().on_state(host_, id, state);
}

std::optional<transport::soft::Admission::Refusal> HostObserver::on_request(
    std::string_view, const ibcm::ReqParameters&) {
  return world_.faults().on_request(host_);
}

}  // namespace anyrdma::sim
