#include "sim/programs/process/thread.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <utility>

#include "sim/host.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/supervisor.h"
#include "sim/world.h"

namespace anyrdma::sim::programs {

/// Wakes a thread whose time is over.
class Thread::Alarm final : public Task {
 public:
  explicit Alarm(Thread& thread) : thread_(thread) {}

 private:
  void run() override { thread_.wake(Woken::kTimeout); }
  [[nodiscard]] std::string what() override {
    return "the time is over for which " + thread_.name() + " waits";
  }

  Thread& thread_;
};

Thread::Thread(Supervisor& supervisor, Process& process, std::string name, pid_t tid)
    : supervisor_(supervisor),
      process_(process),
      name_(std::move(name)),
      tracee_(tid),
      idleness_(supervisor.call_cost()) {}

Instant Thread::now() const {
  return process_.host->runtime().now();
}

// --- waits --------------------------------------------------------------------------------------

Woken Thread::wait(const char* purpose, std::optional<Instant> deadline) {
  return wait_for({}, purpose, deadline);
}

Woken Thread::wait_for(std::vector<Watched> watched, const char* purpose,
                       std::optional<Instant> deadline) {
  if (over_) return Woken::kOver;
  last_deadline_ = deadline;
  watched_ = std::move(watched);
  if (!watched_.empty()) supervisor_.watch(*this);
  // Who was ready when it was woken may have been forestalled by the time its turn comes.
  do {
    woken_ = park(purpose, deadline);
  } while (woken_ == Woken::kReady && !watched_.empty() && !any_ready(*this, watched_));
  if (!watched_.empty()) supervisor_.unwatch(*this);
  watched_.clear();
  if (woken_ == Woken::kOver) over_ = true;
  return woken_;
}

Woken Thread::park(const char* purpose, std::optional<Instant> deadline) {
  Scheduler& scheduler = supervisor_.world().scheduler();
  parking_ = true;
  ready_ = false;
  supervisor_.end_turn();
  parking_ = false;
  // What has come in meanwhile may be for this very thread.
  if (ready_) return Woken::kReady;
  Alarm alarm(*this);
  if (deadline) scheduler.at(alarm, scheduler.now() + (*deadline - now()));
  waits_ = true;
  idleness_.note_found();
  const std::function<std::string()> details = [this] { return describe(); };
  const bool woken = scheduler.fibers().park(sleeper_, purpose, scheduler.now(), &details);
  waits_ = false;
  scheduler.cancel(alarm);
  return woken ? woken_ : Woken::kOver;
}

Woken Thread::wait_for_child() {
  for_child_ = true;
  const Woken woken = wait("a child to end");
  for_child_ = false;
  return woken;
}

void Thread::wake(Woken why) {
  if (!waits_ || sleeper_.empty()) return;  // somebody was faster
  waits_ = false;  // who is woken to no avail would take a wake from another
  woken_ = why;
  supervisor_.world().scheduler().fibers().wake(sleeper_.front());
}

void Thread::on_ready() {
  if (parking_) {
    ready_ = true;
  } else {
    wake(Woken::kReady);
  }
}

void Thread::leave() {
  over_ = true;
  wake(Woken::kOver);
}

// --- turns and time -----------------------------------------------------------------------------

void Thread::yield() {
  if (over_) return;
  supervisor_.end_turn();
  supervisor_.world().scheduler().poll();
  if (supervisor_.world().scheduler().fibers().closed()) over_ = true;
}

void Thread::spin(const Pace& pace) {
  constexpr Duration kFirst = std::chrono::microseconds(1);
  if (over_) return;
  supervisor_.end_turn();
  Scheduler& scheduler = supervisor_.world().scheduler();
  if (spins_++ == 0) spins_since_ = scheduler.now();
  if (spins_ <= pace.for_nothing) {
    scheduler.let_others_go_first();
  } else {
    const Duration waited = scheduler.now() - spins_since_;
    scheduler.poll_until(scheduler.now() + std::max(kFirst, waited / pace.share));
  }
  if (scheduler.fibers().closed()) over_ = true;
}

Duration Thread::spun_for() const {
  if (spins_ == 0) return Duration::zero();
  return supervisor_.world().scheduler().now() - spins_since_;
}

bool Thread::give_way() {
  Scheduler& scheduler = supervisor_.world().scheduler();
  if (over_) return false;
  if (!scheduler.chooses()) return true;
  supervisor_.end_turn();
  scheduler.give_way();
  if (scheduler.fibers().closed()) over_ = true;
  return !over_;
}

bool Thread::spend(Duration duration) {
  if (over_) return false;
  supervisor_.end_turn();
  if (!process_.host->sleep(duration)) over_ = true;
  return !over_;
}

bool Thread::look_in_vain() {
  const auto cost = idleness_.look_in_vain();
  return !cost || spend(*cost);
}

// --- its system call ----------------------------------------------------------------------------

std::optional<long> Thread::finish_call() {
  const tracee::Stop stop = supervisor_.run_to_return(*this);
  if (stop.kind == tracee::StopKind::kReturn) return tracee_.result();
  handle(stop);
  return std::nullopt;
}

Descriptor Thread::borrow(int fd) const {
  return Descriptor(static_cast<int>(::syscall(SYS_pidfd_getfd, process_.pidfd.get(), fd, 0)));
}

}  // namespace anyrdma::sim::programs
