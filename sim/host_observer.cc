// What a host tells the trace, and what the fault plan tells it.
#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <string>
#include <typeinfo>

#include "recording/enumerators.h"
#include "sim/findings.h"
#include "sim/host.h"
#include "sim/monitor.h"
#include "sim/recorder.h"
#include "sim/world.h"
#include "transport/ibcm/names.h"

namespace anyrdma::sim {

using transport::soft::DeviceChange;

void Host::on_mad_dropped(std::string_view, ibcm::DropReason reason, std::uint16_t attribute) {
  world_.trace().drop_message(world_.now(), index_, reason, attribute);
  if (world_.recorder() != nullptr)
    world_.recorder()->ignored(index_, ibcm::to_string(reason), attribute);
}

void Host::on_event(Step step, std::uint64_t id, std::uint64_t listener,
                    const rdma_cm_event& event) {
  world_.trace().event(world_.now(), index_, step, id, listener, event);
  if (Recorder* const stream = world_.stream(); stream != nullptr)
    stream->ids(index_).on_event(step, id, listener, event);
  if (world_.faults().watches_events()) world_.faults().on_event(*this, step, id, event.event);
}

void Host::on_call(std::uint64_t id, std::string_view call, int error) {
  if (Recorder* const stream = world_.stream(); stream != nullptr)
    stream->ids(index_).on_call(id, call, error);
  if (world_.faults().watches_calls()) world_.faults().on_call(*this, id, call);
}

void Host::on_refused(std::uint64_t id, std::string_view call, int error) {
  if (Recorder* const stream = world_.stream(); stream != nullptr)
    stream->ids(index_).on_refused(id, call, error);
}

void Host::on_acknowledged(std::uint64_t id) {
  if (Recorder* const stream = world_.stream(); stream != nullptr)
    stream->ids(index_).on_acknowledged(id);
}

void Host::on_handshake(std::uint64_t id, const rdma_cm_id& raw, std::string_view call,
                        const transport::ConnectionParameters& given) {
  if (Recorder* const stream = world_.stream(); stream != nullptr)
    stream->ids(index_).on_handshake(id, raw, call, given);
}

void Host::on_channels(int change) {
  if (world_.stream() != nullptr) world_.stream()->channels(index_, change);
}

// A process may have other runtimes besides simulated hosts.
bool Host::on_misuse(verbs::Runtime& runtime, const verbs::Misuse& misuse) {
  if (typeid(runtime) != typeid(Host)) return false;
  auto& host = static_cast<Host&>(runtime);
  const std::string text = to_string(misuse) + " (" + host.describe(host.mark()) + ")";
  if (host.world_.stream() != nullptr) host.world_.stream()->mistake(host.index_, text);
  if (host.world_.monitor() != nullptr) return true;  // a finding of it comes at the end
  if (!complain("misuse: " + host.name() + ": " + text)) {
    std::fprintf(stderr, "anyrdma: the program's mistake: %s: %s\n", host.name().c_str(),
                 text.c_str());
  }
  return true;
}

// --- before calls -------------------------------------------------------------------------------

void Host::watch_gate() {
  transport_->set_call_gate(this);
  for (Interface& interface : interfaces_) {
    if (interface.hca != nullptr) interface.hca->set_call_gate(this);
  }
}

int Host::on_call(std::uint64_t id, std::string_view call) {
  if (gate_is_open_) return 0;
  return world_.faults().on_gate(*this, id, call);
}

ibv_wc_status Host::on_work(const verbs::PostedWork& work) {
  return world_.faults().on_work(*this, work);
}

void Host::on_failure(const ibv_wc& completion) {
  world_.faults().on_failure(completion);
}

void Host::on_take() {
  if (slowness_ > Duration::zero() && Fibers::running() != nullptr) (void)sleep(slowness_);
}

bool Host::slow_down(Duration delay) {
  if (slowness_ == delay) return false;
  slowness_ = delay;
  watch_gate();
  return true;
}

Result<void> Host::fail_qp(const verbs::soft::ObjectName& qp, ibv_event_type event) {
  if (tell_outside({.kind = DeviceChange::Kind::kQpFailed, .object = qp, .event = event}))
    return {};
  const verbs::CriticalSection section(*this);
  Result<void> failed = verbs::errno_code(ENOENT);
  for (Interface& interface : interfaces_) {
    if (!interface.present) continue;
    failed = interface.hca->fail_qp(qp, event);
    if (failed || failed.error().value() != ENOENT) return failed;
  }
  return failed;
}

Result<void> Host::overrun_cq(std::uint64_t made) {
  if (tell_outside({.kind = DeviceChange::Kind::kCqOverrun, .object = {.made = made}})) return {};
  const verbs::CriticalSection section(*this);
  Result<void> overrun = verbs::errno_code(ENOENT);
  for (Interface& interface : interfaces_) {
    if (!interface.present) continue;
    overrun = interface.hca->overrun_cq(made);
    if (overrun || overrun.error().value() != ENOENT) return overrun;
  }
  return overrun;
}

Result<void> Host::fail_srq(std::uint64_t made) {
  if (tell_outside({.kind = DeviceChange::Kind::kSrqFailed, .object = {.made = made}})) return {};
  const verbs::CriticalSection section(*this);
  for (Interface& interface : interfaces_) {
    if (interface.present && interface.hca->fail_srq(made)) return {};
  }
  return verbs::errno_code(ENOENT);
}

// --- requests -----------------------------------------------------------------------------------

void Host::on_state(std::uint64_t id, std::string_view state) {
  if (Recorder* const stream = world_.stream(); stream != nullptr)
    stream->ids(index_).on_state(id, state);
  if (world_.faults().watches_calls()) world_.faults().on_state(*this, id, state);
}

std::optional<transport::soft::Admission::Refusal> Host::on_request(std::string_view,
                                                                    const ibcm::ReqParameters&) {
  return world_.faults().on_request(*this);
}

// --- processes -----------------------------------------------------------------------------------

namespace {

ibv_wc completion_of(const fault::Question& question) {
  ibv_wc completion{};
  completion.wr_id = question.work.wr_id;
  completion.qp_num = question.work.qp_num;
  completion.status = static_cast<ibv_wc_status>(question.status);
  return completion;
}

void admit(Faults& faults, const Host& host, fault::Question& question) {
  const auto refusal = faults.on_request(host);
  question.refused = refusal && !refusal->postponed;
  if (!refusal) return;
  if (refusal->postponed) question.mra = static_cast<std::uint8_t>(*refusal->postponed + 1);
  question.unanswered = refusal->unanswered;
  question.no_room = refusal->no_room;
  question.reason = refusal->reason;
  const auto& data = refusal->private_data;
  question.size = static_cast<std::uint8_t>(std::min(data.size(), question.data.size()));
  std::copy_n(data.begin(), question.size, question.data.begin());
}

}  // namespace

void Host::opened(std::string_view process, fault::Question& question) {
  Recorder* const stream = world_.stream();
  if (stream != nullptr) stream->opened(index_, process);
  question.oversight = world_.faults().oversight();
  question.oversight.points = world_.scheduler().chooses();
  question.oversight.entries |= stream != nullptr;
  question.oversight.work = stream != nullptr;
  question.oversight.digests = world_.recorder() != nullptr || world_.monitor() != nullptr;
  question.oversight.ownership = world_.mistakes() != nullptr;
  question.oversight.stacks = world_.options().stacks;
  for (const Interface& each : interfaces_) {
    if (each.uplink == nullptr) continue;
    question.error = each.unplugged ? ENODEV : 0;
    question.port_down = each.port_down;
  }
}

void Host::hear(std::string_view process, const recording::Entry& entry) {
  using recording::EntryKind;
  if (Recorder* const stream = world_.stream(); stream != nullptr)
    stream->hear(index_, process, entry);
  if (!recording::has_known_enumerators(entry)) return;  // no fault waits for it
  Faults& faults = world_.faults();
  const auto& n = entry.numbers;
  if (entry.kind == EntryKind::kQueued) {
    faults.on_event(*this, Step::kQueued, n[1], static_cast<rdma_cm_event_type>(n[3]));
  } else if (entry.kind == EntryKind::kFetched) {
    faults.on_event(*this, Step::kFetched, n[1], static_cast<rdma_cm_event_type>(n[2]));
  } else if (entry.kind == EntryKind::kCalled && n[3] == 0) {
    faults.on_call(*this, n[1], entry.texts[0]);
  } else if (entry.kind == EntryKind::kIdState) {
    faults.on_state(*this, n[1], entry.texts[0]);
  }
}

void Host::forget(std::string_view process) {
  if (Recorder* const stream = world_.stream(); stream != nullptr) stream->gone(index_, process);
}

Duration Host::advise(std::string_view process, fault::Question& question) {
  Faults& faults = world_.faults();
  switch (question.kind) {
    case fault::Question::Kind::kOpened:
      opened(process, question);
      return {};
    case fault::Question::Kind::kRequest:
      admit(faults, *this, question);
      return {};
    case fault::Question::Kind::kCall:
      question.error = faults.on_gate(*this, question.id, question.text());
      return {};
    case fault::Question::Kind::kWork:
      question.status = faults.on_work(*this, question.work);
      return {};
    case fault::Question::Kind::kFailure:
      faults.on_failure(completion_of(question));
      return {};
    case fault::Question::Kind::kTake:
      return slowness_;
  }
  return {};
}

}  // namespace anyrdma::sim
