#include "transport/open/faulty.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>
#include <utility>
#include <variant>

#include "sim/schedule/random_stream.h"
#include "transport/fault/fault_transport.h"
#include "transport/fault/part.h"
#include "transport/fault/plan/scalars.h"
#include "transport/realtime/cancellation.h"
#include "transport/realtime/eventfd_semaphore.h"
#include "transport/realtime/progress_thread.h"
#include "verbs/overloaded.h"

namespace anyrdma::transport {
namespace {

using fault::Effect;
using realtime::ProgressThread;

/// A signal to the process is taken by any of its threads, some time; one to this thread before it
/// can go on.
void strike(int signal) {
  ::syscall(SYS_tgkill, ::getpid(), ::gettid(), signal);
}

/// Drives the decorator in real time, and stands between it and what is below.
class FaultyOpened final : public Opened,
                           private fault::Ground,
                           private soft::Admission,
                           private realtime::Epilogue::Work,
                           private ProgressThread::Work {
 public:
  FaultyOpened(std::unique_ptr<Opened> below, Concluding& concluding, Breakable* breakable,
               const FaultOptions& options);
  ~FaultyOpened() override;
  [[nodiscard]] verbs::Result<void> start();

  Transport& transport() override { return faults_; }
  const char* name() const override { return below_->name(); }
  bool forked() const override { return below_->forked(); }
  void retire() override;
  std::vector<fault::FaultStatus> faults() override;

 private:
  // --- fault::Ground ----------------------------------------------------------------------------
  Effect carry_out(const fault::FaultAction& action) override;
  void on_fired(const fault::FaultStatus& status) override {
    if (on_fired_) on_fired_(status);
  }
  void on_counted(std::size_t index, const fault::FaultStatus& status) override {
    if (on_counted_) on_counted_(index, status);
  }
  bool is_over() const override { return retired_ || below_->forked(); }
  void call_conclusion() override { concluding_.epilogue().call(); }
  void wake() override;
  std::unique_ptr<verbs::Random> dice(std::string_view name) override {
    return std::make_unique<sim::RandomStream>(seed_, name);
  }

  std::optional<Refusal> on_request(std::string_view device,
                                    const ibcm::ReqParameters& request) override;
  std::optional<NoRoute> on_routing(std::chrono::milliseconds timeout) override;
  void conclude() override { faults_.conclude(); }
  std::optional<verbs::Instant> on_wakeup() override;

  std::unique_ptr<Opened> below_;
  Concluding& concluding_;
  Breakable* breakable_;
  std::uint64_t seed_;
  const bool packets_;  ///< the plan has something for them
  std::function<void(const fault::FaultStatus&)> on_fired_;
  std::function<void(std::size_t, const fault::FaultStatus&)> on_counted_;
  fault::FaultTransport faults_;
  std::unique_ptr<verbs::Semaphore> never_;  ///< the thread wants a descriptor
  // Guarded by the critical section.
  std::unique_ptr<ProgressThread> thread_;
  bool retired_ = false;
};

FaultyOpened::FaultyOpened(std::unique_ptr<Opened> below, Concluding& concluding,
                           Breakable* breakable, const FaultOptions& options)
    : below_(std::move(below)),
      concluding_(concluding),
      breakable_(breakable),
      seed_(options.seed),
      packets_(fault::watches_packets(options.plan)),
      on_fired_(options.on_fired),
      on_counted_(options.on_counted),
      faults_(below_->transport(), options.plan, *this,
              breakable == nullptr ? fault::RequestsSeen::kHere : fault::RequestsSeen::kBelow) {}

FaultyOpened::~FaultyOpened() {
  retire();
  const verbs::CriticalSection section(faults_.runtime());
  concluding_.epilogue().set(nullptr);
}

verbs::Result<void> FaultyOpened::start() {
  auto never = realtime::EventfdSemaphore::create();
  if (!never) return never.error();
  never_ = std::move(*never);
  auto thread = ProgressThread::start(never_->fd(), *this);
  if (!thread) return thread.error();
  if (breakable_ != nullptr) {
    breakable_->set_admission(this);
    breakable_->set_call_gate(&faults_.gate());
    if (packets_) breakable_->set_packet_gate(&faults_.packet_gate());
  }
  const verbs::CriticalSection section(faults_.runtime());
  concluding_.epilogue().set(this);
  thread_ = std::move(*thread);
  wake();
  return {};
}

void FaultyOpened::retire() {
  if (below_->forked()) return;
  {
    const realtime::CancellationOff off;
    std::unique_ptr<ProgressThread> thread;
    {
      const verbs::CriticalSection section(faults_.runtime());
      retired_ = true;
      thread = std::move(thread_);
    }
    if (thread != nullptr && breakable_ != nullptr) {
      breakable_->set_admission(nullptr);
      breakable_->set_call_gate(nullptr);
      if (packets_) breakable_->set_packet_gate(nullptr);
    }
  }
  below_->retire();
}

std::vector<fault::FaultStatus> FaultyOpened::faults() {
  const verbs::CriticalSection section(faults_.runtime());
  return faults_.status();
}

// --- driving ------------------------------------------------------------------------------------

void FaultyOpened::wake() {
  if (thread_ != nullptr && !below_->forked()) thread_->wake();
}

std::optional<verbs::Instant> FaultyOpened::on_wakeup() {
  verbs::Runtime& runtime = faults_.runtime();
  faults_.on_timer(runtime.now());
  const verbs::CriticalSection section(runtime);
  return faults_.next_deadline();
}

// --- what is below ------------------------------------------------------------------------------

Effect FaultyOpened::carry_out(const fault::FaultAction& action) {
  const bool is_end = std::holds_alternative<fault::CrashHost>(action) ||
                      std::holds_alternative<fault::KillPrograms>(action);
  if (is_end) strike(SIGKILL);
  if (std::holds_alternative<fault::PauseHost>(action)) {
    strike(SIGSTOP);  // it stands still here, until somebody says SIGCONT
    return Effect::kSome;
  }
  if (breakable_ == nullptr) return Effect::kUnknown;
  // In real time each device has one port. Over udp a plan may name more devices than there are.
  const auto on = [this](const std::string& name, auto&& change) {
    const std::optional<std::size_t> device = fault::device_number(name);
    if (!device || *device >= breakable_->rails()) return Effect::kNone;
    return change(*device) ? Effect::kSome : Effect::kNone;
  };
  const verbs::Overloaded cases{
      [&](const fault::RemoveDevice& remove) {
        return on(remove.device, [&](std::size_t i) { return breakable_->remove_device(i); });
      },
      [&](const fault::PortDown& down) {
        return on(down.device, [&](std::size_t i) { return breakable_->set_port(i, false); });
      },
      [&](const fault::PortUp& up) {
        return on(up.device, [&](std::size_t i) { return breakable_->set_port(i, true); });
      },
      [&](const fault::RaiseEvent& raise) {
        const ibv_event_type event = fault::device_event(raise.event);
        return on(raise.device, [&](std::size_t i) { return breakable_->raise_event(i, event); });
      },
      [](const auto&) { return Effect::kUnknown; }};
  return std::visit(cases, action);
}

std::optional<soft::Admission::Refusal> FaultyOpened::on_request(std::string_view,
                                                                 const ibcm::ReqParameters&) {
  const auto refusal = faults_.next_refusal();
  if (!refusal) return std::nullopt;
  return Refusal{.reason = refusal->reason,
                 .private_data = refusal->private_data,
                 .unanswered = refusal->ignored,
                 .no_room = refusal->forgotten,
                 .postponed = refusal->postponed};
}

// A subnet's manager that does not answer is waited for; what it answers comes at once.
std::optional<soft::Admission::NoRoute> FaultyOpened::on_routing(
    std::chrono::milliseconds timeout) {
  const int error = faults_.next_routing();
  if (error == 0) return std::nullopt;
  return NoRoute{.error = error, .after = error == ETIMEDOUT ? timeout : verbs::Duration::zero()};
}

}  // namespace

OpenResult with_faults(std::unique_ptr<Opened> below, Concluding& concluding, Breakable* breakable,
                       const FaultOptions& options) {
  auto opened = std::make_unique<FaultyOpened>(std::move(below), concluding, breakable, options);
  if (auto started = opened->start(); !started) {
    return OpenError{started.error(), "The thread that carries out faults cannot be started: " +
                                          started.error().message() + "."};
  }
  return std::unique_ptr<Opened>(std::move(opened));
}

}  // namespace anyrdma::transport
