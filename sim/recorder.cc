#include "sim/recorder.h"

#include <algorithm>
#include <chrono>

#include "base/text.h"
#include "recording/packets/packet_fields.h"
#include "recording/work/observer.h"
#include "sim/schedule/scheduler.h"
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

/// What happens in a lane.
class Recorder::Place : public recording::EntrySink {
 public:
  Place(Recorder& recorder, Number lane) : ids_(*this), recorder_(recorder), lane_(lane) {}
  [[nodiscard]] recording::IdObserver& ids() { return ids_; }

 private:
  void put(const recording::Entry& entry) override { recorder_.put(lane_, entry); }

  recording::IdObserver ids_;
  Recorder& recorder_;
  Number lane_;
};

/// What a host's device does, in its lane.
class Recorder::Device final : private recording::EntrySink {
 public:
  Device(Recorder& recorder, HostIndex of, Number lane)
      : host(of),
        recorder_(recorder),
        lane_(lane),
        observer_(*this, recording::WorkObserver::Digests::kShort) {}
  [[nodiscard]] recording::WorkObserver& observer() { return observer_; }

  const HostIndex host;
  bool over = false;  ///< its host has crashed

 private:
  void put(const recording::Entry& entry) override { recorder_.put(lane_, entry); }
  [[nodiscard]] bool is_closed() const override { return over; }

  Recorder& recorder_;
  Number lane_;
  recording::WorkObserver observer_;
};

Recorder::Recorder(const Scheduler& scheduler, std::shared_ptr<recording::Sink> sink)
    : scheduler_(scheduler) {
  if (sink == nullptr) return;
  writer_.emplace(std::move(sink));
  about("clock", "virtual");
  about("build", verbs::kVersion);
}

Recorder::~Recorder() = default;

template <EntryKind kKind, class... Fields>
void Recorder::write(const Fields&... fields) {
  if (writer_) writer_->write<kKind>(scheduler_.now(), fields...);
}

void Recorder::give(recording::Entry& entry) {
  entry.time = scheduler_.now();
  if (writer_ && (!closed_ || entry.kind == EntryKind::kLane)) writer_->write(entry);
  for (recording::EntryReader* const reader : readers_) reader->on_entry(entry);
}

void Recorder::put(Number lane, const recording::Entry& entry) {
  if (recording::is_deed(entry.kind)) tell_thread();
  recording::Entry own = entry;
  own.numbers[0] = lane;
  give(own);
}

// --- lanes --------------------------------------------------------------------------------------

Number Recorder::add_lane(std::string_view of, std::string_view name, Number in_or_none) {
  tell<EntryKind::kLane>(of, name, in_or_none);
  return lanes_++;
}

void Recorder::add_host(HostIndex host, std::string_view name) {
  const auto index = static_cast<std::size_t>(host);
  if (hosts_.size() <= index) {
    hosts_.resize(index + 1);
    host_names_.resize(index + 1);
    places_.resize(index + 1);
  }
  hosts_[index] = add_lane("host", name, 0);
  places_[index] = std::make_unique<Place>(*this, hosts_[index]);
  host_names_[index] = std::string(name);
}

Number Recorder::process_lane(HostIndex host, std::string_view process) {
  const auto found = processes_.find(process);
  if (found != processes_.end()) return found->second;
  const Number lane = add_lane("process", process, lane_of(host) + 1);
  processes_.emplace(process, lane);
  return lane;
}

Number Recorder::rail_lane(std::string_view process, std::string_view rail, Number of_process) {
  const std::string name = std::string(process) + "/" + std::string(rail);
  const auto found = processes_.find(name);
  if (found != processes_.end()) return found->second;
  const Number lane = add_lane("device", name, of_process + 1);
  processes_.emplace(name, lane);
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
          ? add_lane("thread", name, 0)
          : add_lane("thread", name,
                     hosts_[static_cast<std::size_t>(owner - host_names_.begin())] + 1);
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
    tell<EntryKind::kRunning>(running);
  }
}

// --- messages -----------------------------------------------------------------------------------

void Recorder::sent(HostIndex from, HostIndex to, Packet& packet,
                    const recording::FieldWriter& fields) {
  if (!writer_) return;
  constexpr std::size_t kGids = 2 * sizeof(ibv_gid);
  const std::span<const std::uint8_t> bytes = fields.bytes();
  const std::string_view gids(reinterpret_cast<const char*>(bytes.data()), kGids);
  write<EntryKind::kSent>(lane_of(from), lane_or_none(to), gids, bytes.subspan(kGids),
                          packet.udp_source_port);
  packet.mark = writer_->next_message() + 1;
}

void Recorder::copied(const Packet& packet, Packet& copy, HostIndex to) {
  if (packet.mark == 0 || !writer_) return;
  write<EntryKind::kCopied>(packet.mark - 1, lane_or_none(to));
  copy.mark = writer_->next_message() + 1;
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

void Recorder::fault(std::string_view line, const fault::FaultAction& action) {
  tell<EntryKind::kFault>(line, action.kind(), action.private_data());
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

recording::IdObserver& Recorder::ids(HostIndex host) {
  return places_[static_cast<std::size_t>(host)]->ids();
}

void Recorder::crashed(HostIndex host) {
  for (const auto& device : devices_) device->over = device->over || device->host == host;
  channels_.erase(host);
  tell<EntryKind::kNewNumbers>(lane_of(host));
}

void Recorder::hear(HostIndex host, std::string_view process, std::string_view rail,
                    const recording::Entry& entry) {
  const Number lane = process_lane(host, process);
  put(rail.empty() ? lane : rail_lane(process, rail, lane), entry);
}

void Recorder::opened(HostIndex host, std::string_view process) {
  tell<EntryKind::kNewNumbers>(process_lane(host, process));
}

void Recorder::gone(HostIndex host, std::string_view process) {
  if (processes_.contains(process)) tell<EntryKind::kGone>(process_lane(host, process));
}

HcaObserver* Recorder::watch(HostIndex host, std::string_view device) {
  const std::string name = host_names_[static_cast<std::size_t>(host)] + "/" + std::string(device);
  const auto found = processes_.find(name);
  const Number lane =
      found != processes_.end() ? found->second : add_lane("device", name, lane_of(host) + 1);
  if (found == processes_.end()) processes_.emplace(name, lane);
  return &devices_.emplace_back(std::make_unique<Device>(*this, host, lane))->observer();
}

void Recorder::mistake(HostIndex host, std::string_view text) {
  tell<EntryKind::kMistake>(lane_of(host), text, "");
}

void Recorder::unheard(HostIndex at, HostIndex peer) {
  tell<EntryKind::kUnheard>(lane_of(at), lane_or_none(peer));
}

void Recorder::disorder() {
  if (!std::exchange(disorder_, true)) tell<EntryKind::kDisorder>();
}

void Recorder::rest(std::uint64_t waiting) {
  for (const auto& device : devices_) device->observer().count();
  tell<EntryKind::kRest>(waiting);
}

void Recorder::count_left() {
  for (const auto& [host, count] : channels_) {
    if (count != 0)
      tell<EntryKind::kLeft>(lane_of(host), static_cast<std::uint64_t>(count), "event channels");
  }
  for (const auto& device : devices_) {
    device->observer().count_left();
    device->over = true;
  }
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
  const auto& fibers = scheduler_.fibers().all();
  tell<EntryKind::kClosing>(static_cast<std::uint64_t>(std::ranges::count_if(
      fibers, [](const auto& each) { return !each->abandoned() && each->parked(); })));
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
  if (writer_) writer_->end(scheduler_.now(), verdict_.empty() ? "passed" : verdict_, hash);
}

}  // namespace anyrdma::sim
