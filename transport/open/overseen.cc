#include "transport/open/overseen.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "recording/packed.h"
#include "recording/work/ids.h"
#include "recording/work/observer.h"
#include "sim/points/entry_queue.h"
#include "transport/fault/plan/question.h"
#include "transport/open/finding_reporter.h"
#include "transport/realtime/descriptor.h"
#include "transport/realtime/passing.h"
#include "transport/realtime/prompt_call.h"
#include "transport/realtime/scheduling_point.h"
#include "transport/realtime/shared_memory.h"
#include "verbs/runtime.h"

namespace anyrdma::transport {
namespace {

using fault::Oversight;
using fault::Question;
using Kind = Question::Kind;

/// False: nobody answers, and the question is as it was. Leaves errno alone.
bool ask_world(Question& question) {
  const int error = errno;
  const bool answered = ::syscall(fault::kAskWorld, &question, sizeof question) == 0;
  errno = error;
  return answered;
}

/// The world takes out what is in the queue. Leaves errno alone.
void let_world_take() {
  const int error = errno;
  (void)::syscall(sim::kTakeEntries);
  errno = error;
}

/// This process's, made by the first device that it opens and never unmapped: its threads may be in
/// it as long as it lives. Null: there is none. Threads: one at a time, as devices are opened.
sim::EntryQueue* entries_of_process() {
  static pid_t owner = 0;  // a child that was forked has its parent's, which is none of its own
  static sim::EntryQueue* entries = nullptr;
  if (std::exchange(owner, ::getpid()) == ::getpid()) return entries;
  entries = nullptr;
  realtime::Descriptor fd;
  auto memory = realtime::SharedMemory::create(sizeof(sim::EntryQueue), fd);
  if (!memory || ::syscall(sim::kShareEntries, fd.get()) != 0) return nullptr;
  entries = reinterpret_cast<sim::EntryQueue*>(memory->release().data());
  return entries;
}

/// Reports the work of one device.
class DeviceWork final : private recording::EntrySink {
 public:
  /// `number`: what its entries have in the place of a lane (recording/packed.h).
  DeviceWork(recording::EntrySink& sink, std::uint64_t number, bool digests)
      : sink_(sink),
        number_(number),
        observer_(*this, digests ? recording::WorkObserver::Digests::kShort
                                 : recording::WorkObserver::Digests::kNone) {}
  [[nodiscard]] recording::WorkObserver& observer() { return observer_; }

 private:
  void put(const recording::Entry& entry) override {
    recording::Entry own = entry;
    own.numbers[0] = number_;
    sink_.put(own);
  }
  [[nodiscard]] bool is_closed() const override { return sink_.is_closed(); }

  recording::EntrySink& sink_;
  const std::uint64_t number_;
  recording::WorkObserver observer_;
};

/// Stands where a fault plan of the process's own would.
class OverseenOpened final : public Opened,
                             private verbs::CallGate,
                             private recording::EntrySink,
                             private soft::Admission {
 public:
  OverseenOpened(std::unique_ptr<Opened> below, Breakable& breakable, Watchable& watchable,
                 const Oversight& oversight, sim::EntryQueue* entries);
  ~OverseenOpened() override;

  Transport& transport() override { return below_->transport(); }
  const char* name() const override { return below_->name(); }
  bool forked() const override { return below_->forked(); }
  void retire() override;

 private:
  void ask(Question& question) {
    if (!retired_ && !below_->forked()) (void)ask_world(question);
  }
  void put(const recording::Entry& entry) override;
  [[nodiscard]] bool is_closed() const override { return retired_ || below_->forked(); }
  [[nodiscard]] bool stops_at(const recording::Entry& entry) const;

  int on_call(std::uint64_t id, std::string_view call) override;
  ibv_wc_status on_work(const verbs::PostedWork& work) override;
  void on_failure(const ibv_wc& completion) override;
  void on_take() override;
  std::optional<Refusal> on_request(std::string_view device,
                                    const ibcm::ReqParameters& request) override;
  std::optional<NoRoute> on_routing(std::chrono::milliseconds timeout) override;

  // They outlive what they observe.
  recording::IdObserver ids_;
  std::vector<std::unique_ptr<DeviceWork>> works_;
  FindingReporter findings_;
  std::unique_ptr<Opened> below_;
  Breakable& breakable_;
  Watchable& watchable_;
  const Oversight oversight_;
  sim::EntryQueue* const entries_;  ///< null: the world wants none
  std::atomic<bool> retired_ = false;
  Question request_{};  ///< the last one: its refusal's data
};

OverseenOpened::OverseenOpened(std::unique_ptr<Opened> below, Breakable& breakable,
                               Watchable& watchable, const Oversight& oversight,
                               sim::EntryQueue* entries)
    : ids_(*this),
      findings_(oversight.stacks),
      below_(std::move(below)),
      breakable_(breakable),
      watchable_(watchable),
      oversight_(oversight),
      entries_(entries) {
  const std::size_t devices = oversight.work ? watchable_.devices() : 0;
  recording::EntrySink& sink = *this;
  for (std::size_t device = 0; device < devices; ++device) {
    works_.push_back(
        std::make_unique<DeviceWork>(sink, devices > 1 ? device + 1 : 0, oversight.digests));
    watchable_.set_work_observer(device, &works_.back()->observer());
  }
  if (oversight.ownership) watchable_.set_ownership_sink(&findings_);
  Transport& transport = below_->transport();
  if (oversight.requests || oversight.routes) breakable_.set_admission(this);
  const bool gated = oversight.gate || oversight.takes;
  if (gated) breakable_.set_call_gate(this);
  const verbs::CriticalSection section(transport.runtime());
  if (oversight.entries) {
    transport.set_event_observer(&ids_);
    transport.set_call_observer(&ids_);
  }
  if (gated) transport.set_call_gate(this);
}

OverseenOpened::~OverseenOpened() {
  retire();
  const verbs::CriticalSection section(transport().runtime());
  transport().set_event_observer(nullptr);
  transport().set_call_observer(nullptr);
  transport().set_call_gate(nullptr);
}

void OverseenOpened::retire() {
  if (below_->forked()) return;
  if (!retired_.exchange(true)) {
    breakable_.set_admission(nullptr);
    breakable_.set_call_gate(nullptr);
  }
  below_->retire();
}

// --- entries ------------------------------------------------------------------------------------

bool OverseenOpened::stops_at(const recording::Entry& entry) const {
  switch (entry.kind) {
    case recording::EntryKind::kQueued:
    case recording::EntryKind::kFetched:
      return oversight_.events;
    case recording::EntryKind::kCalled:
    case recording::EntryKind::kIdState:
      return oversight_.calls;
    default:  // no fault waits for others
      return false;
  }
}

// A signal handler may fill the queue while the thread below is inside: then it loses its entry.
void OverseenOpened::put(const recording::Entry& entry) {
  if (&::anyrdma_end_passing != nullptr) ::anyrdma_end_passing();
  if (is_closed()) return;
  std::array<std::uint8_t, recording::kPackedBytesMax> packed;
  const auto bytes = std::span<const std::uint8_t>(packed).first(recording::pack(entry, packed));
  if (!entries_->put(bytes)) {
    let_world_take();
    (void)entries_->put(bytes);
  }
  if (stops_at(entry)) let_world_take();
}

// --- what is asked ------------------------------------------------------------------------------

int OverseenOpened::on_call(std::uint64_t id, std::string_view call) {
  if (!oversight_.gate) return 0;
  Question question{.kind = Kind::kCall, .id = id};
  question.set_word(call);
  ask(question);
  return question.error;
}

ibv_wc_status OverseenOpened::on_work(const verbs::PostedWork& work) {
  if (!oversight_.gate) return IBV_WC_SUCCESS;
  Question question{.kind = Kind::kWork, .work = work};
  ask(question);
  return static_cast<ibv_wc_status>(question.status);
}

void OverseenOpened::on_failure(const ibv_wc& completion) {
  if (!oversight_.gate) return;
  Question question{.kind = Kind::kFailure,
                    .work = {.qp_num = completion.qp_num, .wr_id = completion.wr_id},
                    .status = completion.status};
  ask(question);
}

void OverseenOpened::on_take() {
  if (!oversight_.takes) return;
  Question question{.kind = Kind::kTake};
  ask(question);
}

// --- requests -----------------------------------------------------------------------------------

std::optional<soft::Admission::Refusal> OverseenOpened::on_request(std::string_view,
                                                                   const ibcm::ReqParameters&) {
  if (!oversight_.requests) return std::nullopt;
  request_ = Question{.kind = Kind::kRequest};
  ask(request_);
  if (request_.mra != 0) {
    Refusal none;
    none.postponed = static_cast<std::uint8_t>(request_.mra - 1);
    return none;
  }
  if (!request_.refused) return std::nullopt;
  return Refusal{.reason = request_.reason,
                 .private_data = std::span(request_.data).first(request_.size),
                 .unanswered = request_.unanswered,
                 .no_room = request_.no_room};
}

std::optional<soft::Admission::NoRoute> OverseenOpened::on_routing(
    std::chrono::milliseconds timeout) {
  if (!oversight_.routes) return std::nullopt;
  Question question{.kind = Kind::kRoute};
  ask(question);
  if (question.error == 0) return std::nullopt;
  return NoRoute{question.error,
                 question.error == ETIMEDOUT ? verbs::Duration(timeout) : verbs::Duration{}};
}

/// What has happened to the host's devices before the process opened them.
void catch_up(Transport& transport, Breakable& breakable, std::size_t rails,
              std::uint32_t changes) {
  for (std::uint32_t i = 0; i < changes; ++i) {
    Question question{.kind = Kind::kChange, .id = i};
    if (!ask_world(question) || question.change.device >= rails) return;
    ibv_gid address{};
    std::ranges::copy(question.change.address, address.raw);
    const soft::DeviceChange change{
        .kind = static_cast<soft::DeviceChange::Kind>(question.change.kind),
        .neighbour = soft::Address::from_gid(address),
        .bits = question.change.bits,
        .new_guid = question.change.new_guid};
    const verbs::CriticalSection section(transport.runtime());
    breakable.apply(change, question.change.device);
  }
}

}  // namespace

OpenResult with_oversight(std::unique_ptr<Opened> below, Breakable& breakable,
                          Watchable& watchable) {
  Question device{.kind = Kind::kOpened};
  if (ask_world(device)) {
    realtime::mark_prompt_calls();
    realtime::enter_world();
  }
  if (device.error != 0) {
    return OpenError{verbs::errno_code(device.error), watchable.devices() > 1
                                                          ? "The host's devices were removed."
                                                          : "The host's device was removed."};
  }
  catch_up(below->transport(), breakable, watchable.rails(), device.changes);
  {
    const verbs::CriticalSection section(below->transport().runtime());
    for (std::size_t i = 0; i < watchable.rails(); ++i) {
      if ((device.removed >> i & 1) != 0) (void)breakable.remove_device(i).has_value();
      if ((device.ports_down >> i & 1) != 0) (void)breakable.set_port(i, false).has_value();
    }
  }
  sim::EntryQueue* const entries = entries_of_process();
  if (entries == nullptr && (device.oversight.entries || device.oversight.work)) {
    return OpenError{verbs::errno_code(ENOMEM),
                     "The process cannot share memory with its simulated host (memfd_create)."};
  }
  auto overseen = std::unique_ptr<Opened>(std::make_unique<OverseenOpened>(
      std::move(below), breakable, watchable, device.oversight, entries));
  // Last: what is done above depends on who watches, and must not show in the schedule.
  if (device.oversight.points) realtime::want_scheduling_points();
  return overseen;
}

}  // namespace anyrdma::transport
