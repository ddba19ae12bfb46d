#include "sim/programs/kernel/timers.h"

#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <string>

#include "sim/programs/kernel/clocks.h"
#include "sim/programs/kernel/signals.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/signal_state.h"
#include "sim/programs/process/supervisor.h"
#include "sim/world.h"

namespace anyrdma::sim::programs {
namespace {

constexpr int kIntervalTimer = -1;

/// What tells one eventfd from all others, whichever process looks at it.
std::string eventfd_id(pid_t pid, int fd) {
  std::ifstream info("/proc/" + std::to_string(pid) + "/fdinfo/" + std::to_string(fd));
  for (std::string line; std::getline(info, line);) {
    if (line.starts_with("eventfd-id:")) return line;
  }
  return {};
}

}  // namespace

class Timers::Timer final : public Task {
 public:
  Timer(Supervisor& supervisor, Process& owner) : process(owner), supervisor_(supervisor) {}
  ~Timer() override { stop(); }

  void stop() { supervisor_.world().scheduler().cancel(*this); }
  void start(Instant first, Duration every) {
    interval = every;
    supervisor_.world().scheduler().at(*this, first);
  }
  /// What is left until it expires next, and its interval.
  [[nodiscard]] itimerspec rest() const {
    const Scheduler& scheduler = supervisor_.world().scheduler();
    Duration left{};
    if (armed())
      left = std::max(scheduler.time_of(*this) - scheduler.now(),
                      Duration(std::chrono::nanoseconds(1)));
    return {.it_interval = timespec_of(interval), .it_value = timespec_of(left)};
  }

  Process& process;
  clockid_t clock = CLOCK_MONOTONIC;
  Descriptor descriptor{};  ///< an eventfd, or ...
  std::string id{};         ///< of it
  int signal = 0;           ///< ... this is sent
  pid_t thread = 0;         ///< to one thread; 0: to any
  int number = 0;
  std::uint64_t value = 0;  ///< for the signal's receiver
  unsigned overrun = 0;     ///< expirations since the signal that was sent last
  Duration interval{};

 private:
  void run() override {
    if (interval != Duration::zero()) {
      Scheduler& scheduler = supervisor_.world().scheduler();
      scheduler.at(*this, scheduler.now() + interval);
    }
    if (descriptor) {
      const std::uint64_t one = 1;
      (void)!::write(descriptor.get(), &one, sizeof one);
      supervisor_.look();
    } else if (signal != 0 && number < 0) {
      send_signal(supervisor_, process, thread, signal);
    } else if (signal != 0 && sent_ && is_pending()) {
      ++overrun;
    } else if (signal != 0) {
      sent_ = true;
      overrun = 0;
      send_timer_signal(supervisor_, process, thread, signal, number, value);
    }
  }
  /// One signal of a timer is queued at a time.
  [[nodiscard]] bool is_pending() const {
    const Thread* one = thread == 0 ? nullptr : find_thread(process, thread);
    for (const auto& each : process.threads) {
      if (one == nullptr && !each->is_over()) one = each.get();
    }
    return one != nullptr && (pending_signals(*one) >> (signal - 1) & 1) != 0;
  }

  bool sent_ = false;

  Supervisor& supervisor_;
};

Timers::Timers(Supervisor& supervisor) : supervisor_(supervisor) {}
Timers::~Timers() = default;

// --- descriptors --------------------------------------------------------------------------------

Outcome Timers::on_timerfd_create(Thread& thread, const Call& call) {
  constexpr std::uint64_t kFlags = TFD_NONBLOCK | TFD_CLOEXEC;
  static_assert(int{TFD_NONBLOCK} == int{EFD_NONBLOCK} && int{TFD_CLOEXEC} == int{EFD_CLOEXEC});
  if ((call.arguments[1] & ~kFlags) != 0) return Outcome::answered(-EINVAL);
  const auto clock = static_cast<clockid_t>(call.arguments[0]);
  if (!reading_of(thread, clock) || is_of_processor(clock)) return Outcome::answered(-EINVAL);
  auto registers = thread.tracee().registers();
  if (!registers) return Outcome::over();
  registers->orig_rax = SYS_eventfd2;
  registers->rdi = 0;
  registers->rsi = call.arguments[1];
  thread.tracee().set_registers(*registers);
  const auto fd = thread.finish_call();
  if (!fd) return Outcome::over();
  if (*fd < 0) return Outcome::made();
  auto& timer = timers_.emplace_back(std::make_unique<Timer>(supervisor_, thread.process()));
  timer->clock = clock;
  timer->descriptor = thread.borrow(static_cast<int>(*fd));
  timer->id = eventfd_id(thread.process().pid, static_cast<int>(*fd));
  return Outcome::made();
}

Timers::Timer* Timers::of_descriptor(Thread& thread, int fd) {
  const std::string id = eventfd_id(thread.process().pid, fd);
  if (id.empty()) return nullptr;
  const auto found = std::find_if(timers_.begin(), timers_.end(),
                                  [&](const auto& each) { return each->id == id; });
  return found == timers_.end() ? nullptr : found->get();
}

Outcome Timers::on_timerfd_settime(Thread& thread, const Call& call) {
  Timer* const timer = of_descriptor(thread, static_cast<int>(call.arguments[0]));
  if (timer == nullptr) return Outcome::answered(-EINVAL);
  const auto asked = thread.tracee().peek<itimerspec>(call.arguments[2]);
  if (!asked) return Outcome::answered(-EFAULT);
  if (call.arguments[3] != 0 && !thread.tracee().poke(call.arguments[3], timer->rest()))
    return Outcome::answered(-EFAULT);
  timer->stop();
  // What has expired is forgotten with the old setting.
  std::uint64_t expired = 0;
  pollfd ready{.fd = timer->descriptor.get(), .events = POLLIN, .revents = 0};
  if (::poll(&ready, 1, 0) == 1) (void)!::read(ready.fd, &expired, sizeof expired);
  const bool absolute = (call.arguments[1] & TFD_TIMER_ABSTIME) != 0;
  if (asked->it_value.tv_sec != 0 || asked->it_value.tv_nsec != 0) {
    timer->start(absolute ? instant_of(thread, timer->clock, asked->it_value)
                          : thread.now() + duration_of(asked->it_value),
                 duration_of(asked->it_interval));
  }
  return Outcome::answered(0);
}

Outcome Timers::on_timerfd_gettime(Thread& thread, const Call& call) {
  Timer* const timer = of_descriptor(thread, static_cast<int>(call.arguments[0]));
  if (timer == nullptr) return Outcome::answered(-EINVAL);
  if (!thread.tracee().poke(call.arguments[1], timer->rest())) return Outcome::answered(-EFAULT);
  return Outcome::answered(0);
}

// --- signals ------------------------------------------------------------------------------------

Timers::Timer* Timers::of_number(Thread& thread, int number) {
  const auto found = std::find_if(timers_.begin(), timers_.end(), [&](const auto& each) {
    return &each->process == &thread.process() && !each->descriptor && each->number == number;
  });
  return found == timers_.end() ? nullptr : found->get();
}

/// The process's only one, which alarm and setitimer share.
Timers::Timer& Timers::interval_timer(Thread& thread) {
  if (Timer* const timer = of_number(thread, kIntervalTimer); timer != nullptr) return *timer;
  auto& timer = timers_.emplace_back(std::make_unique<Timer>(supervisor_, thread.process()));
  timer->number = kIntervalTimer;
  timer->signal = SIGALRM;
  return *timer;
}

Outcome Timers::on_alarm(Thread& thread, const Call& call) {
  Timer& timer = interval_timer(thread);
  const timespec left = timer.rest().it_value;
  timer.stop();
  const auto asked = static_cast<unsigned>(call.arguments[0]);
  if (asked != 0) timer.start(thread.now() + std::chrono::seconds(asked), Duration::zero());
  return Outcome::answered(left.tv_sec + (left.tv_nsec != 0 ? 1 : 0));
}

Outcome Timers::on_setitimer(Thread& thread, const Call& call) {
  const bool real = call.arguments[0] == ITIMER_REAL;
  const itimerspec old = real ? interval_timer(thread).rest() : itimerspec{};
  const auto asked = thread.tracee().peek<itimerval>(call.arguments[1]);
  if (!asked) return Outcome::answered(-EFAULT);
  const auto whole = [](const timespec& value) {
    return timeval{.tv_sec = value.tv_sec, .tv_usec = value.tv_nsec / 1000};
  };
  if (call.arguments[2] != 0 &&
      !thread.tracee().poke(call.arguments[2], itimerval{.it_interval = whole(old.it_interval),
                                                         .it_value = whole(old.it_value)}))
    return Outcome::answered(-EFAULT);
  const auto length = [](const timeval& value) {
    return Duration(std::chrono::seconds(value.tv_sec) + std::chrono::microseconds(value.tv_usec));
  };
  const Duration first = length(asked->it_value);
  if (!real) {
    if (first != Duration::zero()) remark_on("a timer");
    return Outcome::answered(0);
  }
  Timer& timer = interval_timer(thread);
  timer.stop();
  if (first != Duration::zero()) timer.start(thread.now() + first, length(asked->it_interval));
  return Outcome::answered(0);
}

Outcome Timers::on_getitimer(Thread& thread, const Call& call) {
  const bool real = call.arguments[0] == ITIMER_REAL;
  const itimerspec rest = real ? interval_timer(thread).rest() : itimerspec{};
  const itimerval value{.it_interval = {rest.it_interval.tv_sec, rest.it_interval.tv_nsec / 1000},
                        .it_value = {rest.it_value.tv_sec, rest.it_value.tv_nsec / 1000}};
  return Outcome::answered(thread.tracee().poke(call.arguments[1], value) ? 0 : -EFAULT);
}

Outcome Timers::on_timer_create(Thread& thread, const Call& call) {
  // The head of struct sigevent, as the kernel has it.
  struct Event {
    std::uint64_t value;
    std::int32_t signal;
    std::int32_t notify;
    std::int32_t thread;
  };
  Event event{.value = 0, .signal = SIGALRM, .notify = SIGEV_SIGNAL, .thread = 0};
  if (call.arguments[1] != 0) {
    const auto given = thread.tracee().peek<Event>(call.arguments[1]);
    if (!given) return Outcome::answered(-EFAULT);
    event = *given;
  }
  const int number = made_++;
  if (!thread.tracee().poke(call.arguments[2], number)) return Outcome::answered(-EFAULT);
  auto& timer = timers_.emplace_back(std::make_unique<Timer>(supervisor_, thread.process()));
  timer->number = number;
  timer->clock = static_cast<clockid_t>(call.arguments[0]);
  if (event.notify != SIGEV_NONE) timer->signal = event.signal;
  timer->value = call.arguments[1] == 0 ? static_cast<std::uint64_t>(number) : event.value;
  if (event.notify == SIGEV_THREAD_ID) timer->thread = event.thread;
  return Outcome::answered(0);
}

Outcome Timers::on_timer_settime(Thread& thread, const Call& call) {
  Timer* const timer = of_number(thread, static_cast<int>(call.arguments[0]));
  const auto asked = thread.tracee().peek<itimerspec>(call.arguments[2]);
  if (timer == nullptr) return Outcome::answered(-EINVAL);
  if (!asked) return Outcome::answered(-EFAULT);
  if (call.arguments[3] != 0 && !thread.tracee().poke(call.arguments[3], timer->rest()))
    return Outcome::answered(-EFAULT);
  timer->stop();
  const bool absolute = (call.arguments[1] & TIMER_ABSTIME) != 0;
  const bool armed = asked->it_value.tv_sec != 0 || asked->it_value.tv_nsec != 0;
  if (armed && is_of_processor(timer->clock)) {
    remark_on("a timer");
  } else if (armed) {
    timer->start(absolute ? instant_of(thread, timer->clock, asked->it_value)
                          : thread.now() + duration_of(asked->it_value),
                 duration_of(asked->it_interval));
  }
  return Outcome::answered(0);
}

Outcome Timers::on_timer_gettime(Thread& thread, const Call& call) {
  const Timer* const timer = of_number(thread, static_cast<int>(call.arguments[0]));
  if (timer == nullptr) return Outcome::answered(-EINVAL);
  return Outcome::answered(thread.tracee().poke(call.arguments[1], timer->rest()) ? 0 : -EFAULT);
}

Outcome Timers::on_timer_getoverrun(Thread& thread, const Call& call) {
  const Timer* const timer = of_number(thread, static_cast<int>(call.arguments[0]));
  return Outcome::answered(timer == nullptr ? -EINVAL : static_cast<long>(timer->overrun));
}

Outcome Timers::on_timer_delete(Thread& thread, const Call& call) {
  const Timer* const timer = of_number(thread, static_cast<int>(call.arguments[0]));
  if (timer == nullptr) return Outcome::answered(-EINVAL);
  std::erase_if(timers_, [&](const auto& each) { return each.get() == timer; });
  return Outcome::answered(0);
}

// --- processor time -----------------------------------------------------------------------------

void Timers::remark_on(const char* what) {
  supervisor_.remark(
      std::string(what) +
      " of processor time never expires: programs use no processor time on simulated hosts");
}

void Timers::remark_on_limit() {
  remark_on("a limit");
}

void Timers::on_process_gone(const Process& process) {
  std::erase_if(timers_, [&](const auto& each) { return &each->process == &process; });
}

}  // namespace anyrdma::sim::programs
