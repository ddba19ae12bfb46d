#include "sim/recorder.h"

#include <algorithm>
#include <chrono>

#include "recording/work/entries.h"
#include "recording/work/observer.h"
#include "sim/packets/packet_fields.h"
#include "sim/schedule/scheduler.h"
#include "sim/text/text.h"
#include "verbs/version.h"

namespace anyrdma::sim {
namespace {

using recording::EntryKind;
using recording::Number;
using verbs::soft::HcaObserver;
using verbs::soft::Packet;

constexpr verbs::Duration kShortestSleep = std::chrono::microseconds(1);
constexpr std::uint64_t kStandardOutput = 1;
constexpr std::uint64_t kStandardError = 2;

}  // namespace

/// What a host's device does, in its lane.
class Recorder::Device final : private recording::WorkSink {
 public:
  Device(Recorder& recorder, Number lane, HcaObserver* next)
      : recorder_(recorder), lane_(lane), observer_(*this, next) {}
  [[nodiscard]] HcaObserver* observer() { return &observer_; }

 private:
  void on_queue_pair(const recording::QueuePairState& state) override { tell(state); }
  void on_async(const recording::RaisedEvent& event) override { tell(event); }
  void on_work(const recording::PostedWork& work) override { tell_deed(work); }
  void on_completion(const recording::TakenCompletion& completion) override {
    tell_deed(completion);
  }
  template <class What>
  void tell(const What& what) {
    if (!recorder_.closed_)
      recording::write(recorder_.writer_, recorder_.scheduler_.now(), lane_, what);
  }
  template <class What>
  void tell_deed(const What& what) {
    if (!recorder_.closed_) recorder_.tell_thread();
    tell(what);
  }

  Recorder& recorder_;
  Number lane_;
  recording::WorkObserver observer_;
};

Recorder::Recorder(const Scheduler& scheduler, std::shared_ptr<recording::Sink> sink)
    : scheduler_(scheduler), writer_(std::move(sink)) {
  writer_.about("clock", "virtual");
  writer_.about("build", verbs::kVersion);
}

Recorder::~Recorder() = default;

template <EntryKind kKind, class... Fields>
void Recorder::write(const Fields&... fields) {
  writer_.write<kKind>(scheduler_.now(), fields...);
}

template <EntryKind kKind, class... Fields>
void Recorder::write_deed(const Fields&... fields) {
  tell_thread();
  write<kKind>(fields...);
}

// --- lanes --------------------------------------------------------------------------------------

void Recorder::add_host(HostIndex host, std::string_view name) {
  const auto index = static_cast<std::size_t>(host);
  if (hosts_.size() <= index) {
    hosts_.resize(index + 1);
    host_names_.resize(index + 1);
  }
  hosts_[index] = writer_.lane(scheduler_.now(), "host", name);
  host_names_[index] = std::string(name);
}

Number Recorder::process_lane(HostIndex host, std::string_view process) {
  const auto found = processes_.find(process);
  if (found != processes_.end()) return found->second;
  const Number lane = writer_.lane(scheduler_.now(), "process", process, lane_of(host));
  processes_.emplace(process, lane);
  return lane;
}

/// "client/rping" is on the host of that name, if there is one.
Number Recorder::thread_lane(std::string_view name) {
  const auto found = threads_.find(name);
  if (found != threads_.end()) return found->second;
  const std::string_view host = name.substr(0, name.find('/'));
  const auto owner = std::find(host_names_.begin(), host_names_.end(), host);
  const Number lane =
      owner == host_names_.end()
          ? writer_.lane(scheduler_.now(), "thread", name)
          : writer_.lane(scheduler_.now(), "thread", name,
                         hosts_[static_cast<std::size_t>(owner - host_names_.begin())]);
  threads_.emplace(name, lane);
  return lane;
}

Number Recorder::thread_lane(const Fiber& fiber) {
  if (by_fiber_.size() <= fiber.number()) by_fiber_.resize(fiber.number() + 1);
  Number& lane = by_fiber_[fiber.number()];
  if (lane == 0) lane = thread_lane(fiber.name()) + 1;
  return lane - 1;
}

void Recorder::tell_thread() {
  const Fiber* const fiber = scheduler_.fibers().current();
  const Number running = fiber == nullptr ? 0 : thread_lane(*fiber) + 1;
  if (running != running_) {
    running_ = running;
    write<EntryKind::kRunning>(running);
  }
}

// --- messages -----------------------------------------------------------------------------------

void Recorder::sent(HostIndex from, HostIndex to, Packet& packet, const FieldWriter& fields) {
  constexpr std::size_t kGids = 2 * sizeof(ibv_gid);
  const std::span<const std::uint8_t> bytes = fields.bytes();
  const std::string_view gids(reinterpret_cast<const char*>(bytes.data()), kGids);
  write<EntryKind::kSent>(lane_of(from), lane_or_none(to), gids, bytes.subspan(kGids),
                          packet.udp_source_port);
  packet.mark = writer_.next_message() + 1;
}

void Recorder::copied(const Packet& packet, Packet& copy, HostIndex to) {
  if (packet.mark == 0) return;
  write<EntryKind::kCopied>(packet.mark - 1, lane_or_none(to));
  copy.mark = writer_.next_message() + 1;
}

void Recorder::launched(const Packet& packet, Instant arrival) {
  if (packet.mark == 0) return;
  write<EntryKind::kArrives>(packet.mark - 1,
                             static_cast<std::uint64_t>((arrival - scheduler_.now()).count()));
}

void Recorder::lost(std::uint64_t mark, std::string_view why, HostIndex at) {
  if (mark != 0) write<EntryKind::kLost>(mark - 1, why, lane_or_none(at));
}

void Recorder::ignored(HostIndex host, std::string_view why, std::uint16_t attribute) {
  if (!closed_) write<EntryKind::kIgnored>(lane_of(host), why, attribute);
}

void Recorder::fault(std::string_view line) {
  write<EntryKind::kFault>(line);
}

void Recorder::struck(const Packet& packet) {
  if (packet.mark != 0) write<EntryKind::kStruck>(packet.mark - 1);
}

// --- programs -----------------------------------------------------------------------------------

void Recorder::note(HostIndex host, std::string_view text) {
  write<EntryKind::kNote>(lane_or_none(host), Number{0}, text);
}

void Recorder::output(std::string_view program, bool error, std::string_view line) {
  const Number lane = thread_lane(program);
  write<EntryKind::kNote>(lane + 1, error ? kStandardError : kStandardOutput, line);
}

void Recorder::ended(std::string_view program, std::string_view how) {
  write<EntryKind::kNote>(thread_lane(program) + 1, Number{0}, how);
}

void Recorder::chosen(const Deviation& choice, const Fiber* fiber) {
  if (closed_) return;
  const Number lane = fiber == nullptr ? 0 : thread_lane(*fiber) + 1;
  write<EntryKind::kChosen>(lane, choice.point, std::uint64_t{choice.choice});
}

void Recorder::event(HostIndex host, transport::EventObserver::Step step, std::uint64_t id,
                     std::uint64_t listener, const rdma_cm_event& event) {
  if (closed_) return;
  const auto type = static_cast<std::uint64_t>(event.event);
  if (step == transport::EventObserver::Step::kFetched) {
    write_deed<EntryKind::kFetched>(lane_of(host), id, type);
    return;
  }
  FieldWriter fields;
  put_parameters(fields, event);
  write<EntryKind::kQueued>(lane_of(host), id, listener, type, event.status, fields.bytes());
}

void Recorder::acknowledged(HostIndex host, std::uint64_t id) {
  if (!closed_) write_deed<EntryKind::kAcknowledged>(lane_of(host), id);
}

void Recorder::called(HostIndex host, std::uint64_t id, std::string_view call, int error) {
  if (closed_) return;
  write_deed<EntryKind::kCalled>(lane_of(host), id, call, static_cast<std::uint64_t>(error));
}

void Recorder::given(HostIndex host, std::uint64_t id, std::uint32_t qp_num) {
  if (!closed_) write<EntryKind::kGiven>(lane_of(host), id, qp_num);
}

void Recorder::state(HostIndex host, std::uint64_t id, std::string_view state) {
  if (!closed_) write<EntryKind::kIdState>(lane_of(host), id, state);
}

void Recorder::crashed(HostIndex host) {
  if (!closed_) write<EntryKind::kNewNumbers>(lane_of(host));
}

void Recorder::told(HostIndex host, std::string_view process, const fault::Question& what) {
  using Kind = fault::Question::Kind;
  const Number lane = process_lane(host, process);
  const auto type = static_cast<std::uint64_t>(what.event);
  switch (what.kind) {
    case Kind::kOpened:
      write<EntryKind::kNewNumbers>(lane);
      return;
    case Kind::kQueued:
      write<EntryKind::kQueued>(lane, what.id, what.listener, type, 0, "");
      return;
    case Kind::kFetched:
      write_deed<EntryKind::kFetched>(lane, what.id, type);
      return;
    case Kind::kMade:
    case Kind::kRefused:
      write_deed<EntryKind::kCalled>(lane, what.id, what.text(),
                                     static_cast<std::uint64_t>(what.status));
      return;
    case Kind::kState:
      write<EntryKind::kIdState>(lane, what.id, what.text());
      return;
    case Kind::kAcknowledged:
      write_deed<EntryKind::kAcknowledged>(lane, what.id);
      return;
    case Kind::kQueuePair:
      recording::write(writer_, scheduler_.now(), lane,
                       recording::QueuePairState{.qp_num = what.work.qp_num, .state = what.text()});
      return;
    case Kind::kPosted:
      tell_thread();
      recording::write(writer_, scheduler_.now(), lane,
                       recording::PostedWork{.qp_num = what.work.qp_num,
                                             .operation = what.text(),
                                             .wr_id = what.work.wr_id,
                                             .bytes = what.work.length});
      return;
    case Kind::kTaken:
      tell_thread();
      recording::write(writer_, scheduler_.now(), lane,
                       recording::TakenCompletion{.qp_num = what.work.qp_num,
                                                  .wr_id = what.work.wr_id,
                                                  .opcode = what.code,
                                                  .status = static_cast<std::uint64_t>(what.status),
                                                  .bytes = what.work.length});
      return;
    case Kind::kRaised:
      recording::write(writer_, scheduler_.now(), lane,
                       recording::RaisedEvent{.type = type, .qp_num = what.work.qp_num});
      return;
    case Kind::kRequest:
    case Kind::kCall:
    case Kind::kWork:
    case Kind::kFailure:
    case Kind::kTake:
      return;  // asked for the fault plan's sake; what comes of it is told otherwise
  }
}

HcaObserver* Recorder::watch(HostIndex host, std::string_view device, HcaObserver* next) {
  const std::string name = host_names_[static_cast<std::size_t>(host)] + "/" + std::string(device);
  const auto found = processes_.find(name);
  const Number lane = found != processes_.end()
                          ? found->second
                          : writer_.lane(scheduler_.now(), "device", name, lane_of(host));
  if (found == processes_.end()) processes_.emplace(name, lane);
  return devices_.emplace_back(std::make_unique<Device>(*this, lane, next))->observer();
}

// --- waits --------------------------------------------------------------------------------------

// Who polls waits for nothing in particular, and does so a million times a second; what a system
// call takes is no wait.
void Recorder::on_waited(const Fiber& fiber) {
  if (closed_ || fiber.purpose() == Scheduler::kPolls || fiber.since() == scheduler_.now()) return;
  const bool idles = fiber.purpose() == Scheduler::kIdles;
  if (idles && scheduler_.now() - fiber.since() < kShortestSleep) return;
  wait(fiber, true);
}

// A server that waits as its run ends has waited until then: it has in any other run, too.
void Recorder::close() {
  if (!closed_ && !hangs_) {
    for (const auto& fiber : scheduler_.fibers().all()) {
      if (!fiber->abandoned() && fiber->parked()) on_waited(*fiber);
    }
  }
  closed_ = true;
}

void Recorder::wait(const Fiber& fiber, bool ended) {
  const Number lane = thread_lane(fiber);
  const auto waited = static_cast<std::uint64_t>((scheduler_.now() - fiber.since()).count());
  write<EntryKind::kWaited>(lane, waited, fiber.purpose(), Number{ended},
                            ended ? std::string() : fiber.details());
}

// --- ends ---------------------------------------------------------------------------------------

void Recorder::finding(std::string_view text, std::string_view stack) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view first = text.substr(0, end);
  const std::string_view rest = text.substr(end);
  write<EntryKind::kFinding>(first, stack.empty() ? rest : stack);
  if (hangs_) return;  // it speaks of that: which has moments
  write<EntryKind::kMoment>(first, Number{0});
  if (verdict_.empty()) verdict_ = "failed";
}

void Recorder::hang(std::string_view why) {
  verdict_ = "hang";
  hangs_ = true;
  for (const auto& fiber : scheduler_.fibers().all()) {
    if (fiber->abandoned() || !fiber->parked()) continue;
    wait(*fiber, false);
    if (fiber->ending() != Ending::kMustEnd) continue;
    const Number lane = thread_lane(*fiber);
    write<EntryKind::kMoment>(fiber->name() + " waits for " + fiber->purpose() + " since " +
                                  seconds_text(fiber->since().time_since_epoch()) + " s, and " +
                                  std::string(why),
                              lane + 1);
  }
}

void Recorder::crash(std::string_view program, std::string_view how, std::string_view stack) {
  (void)thread_lane(program);  // where the finding will stand, as it is named
  const std::string text = std::string(program) + " " + std::string(how);
  write<EntryKind::kFinding>(text, stack);
  write<EntryKind::kMoment>(text, Number{0});
  verdict_ = "crash";
}

void Recorder::end(std::uint64_t hash) {
  writer_.end(scheduler_.now(), verdict_.empty() ? "passed" : verdict_, hash);
}

}  // namespace anyrdma::sim
