#include "sim/programs/kernel/clocks.h"

#include <sys/resource.h>
#include <sys/time.h>
#include <sys/times.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "sim/programs/process/supervisor.h"
#include "transport/realtime/own_clock.h"

namespace anyrdma::sim::programs {
namespace {

using std::chrono::nanoseconds;
using std::chrono::seconds;

/// Hosts have been up for a while when the world begins: some programs take 0 for "never".
constexpr Duration kUptime = seconds(1000);
constexpr long kTicksPerSecond = 100;

/// A look at the clock takes time, or who waits for the clock would wait for ever.
bool look(Thread& thread) {
  return thread.spend(thread.idleness().look());
}

/// The same for a reading of anyrdma's libraries, which says nothing about the program.
bool look_for_library(Thread& thread) {
  return thread.spend(thread.supervisor().call_cost());
}

template <class Value>
Outcome give(Thread& thread, std::uint64_t address, const Value& value, long result = 0) {
  if (address != 0 && !thread.tracee().poke(address, value)) return Outcome::answered(-EFAULT);
  return Outcome::answered(result);
}

Outcome sleep_until(Thread& thread, Instant end, std::uint64_t rest_at, bool absolute) {
  const Sleeper sleeper(thread.supervisor());
  switch (thread.wait("time to pass (it sleeps)", end)) {
    case Woken::kOver:
      return Outcome::over();
    case Woken::kSignal:
      // The kernel would go on counting in real time where the signal does not end the sleep.
      if (!absolute && rest_at != 0) {
        const Duration rest = std::max(end - thread.now(), Duration::zero());
        if (!thread.tracee().poke(rest_at, timespec_of(rest))) return Outcome::answered(-EFAULT);
      }
      return Outcome::answered(-EINTR);
    default:
      return Outcome::answered(0);
  }
}

}  // namespace

Duration duration_of(const timespec& value) {
  constexpr std::int64_t kLongest = 100LL * 365 * 24 * 3600;  // a century is for ever
  return seconds(std::clamp<std::int64_t>(value.tv_sec, 0, kLongest)) + nanoseconds(value.tv_nsec);
}

timespec timespec_of(Duration duration) {
  const auto whole = std::chrono::duration_cast<seconds>(duration);
  return {.tv_sec = whole.count(), .tv_nsec = nanoseconds(duration - whole).count()};
}

bool is_of_processor(clockid_t clock) {
  return clock == CLOCK_PROCESS_CPUTIME_ID || clock == CLOCK_THREAD_CPUTIME_ID || clock < 0;
}

std::optional<Duration> reading_of(const Thread& thread, clockid_t clock) {
  const Duration age = thread.now().time_since_epoch();
  switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
    case CLOCK_TAI:
      return thread.supervisor().wall_clock() + age;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
      return kUptime + age;
    default:
      if (is_of_processor(clock)) return age;
      return std::nullopt;
  }
}

Instant instant_of(const Thread& thread, clockid_t clock, const timespec& reading) {
  const Duration shown = reading_of(thread, clock).value_or(Duration::zero());
  return thread.now() + (duration_of(reading) - shown);
}

Outcome on_clock_gettime(Thread& thread, const Call& call) {
  const bool own = call.arguments[2] == transport::realtime::kOwnReading;
  if (own ? !look_for_library(thread) : !look(thread)) return Outcome::over();
  const auto shown = reading_of(thread, static_cast<clockid_t>(call.arguments[0]));
  if (!shown) return Outcome::answered(-EINVAL);
  return give(thread, call.arguments[1], timespec_of(*shown));
}

Outcome on_clock_getres(Thread& thread, const Call& call) {
  if (!reading_of(thread, static_cast<clockid_t>(call.arguments[0])))
    return Outcome::answered(-EINVAL);
  return give(thread, call.arguments[1], timespec{.tv_sec = 0, .tv_nsec = 1});
}

Outcome on_gettimeofday(Thread& thread, const Call& call) {
  if (!look(thread)) return Outcome::over();
  const timespec now = timespec_of(*reading_of(thread, CLOCK_REALTIME));
  if (call.arguments[1] != 0 && !thread.tracee().poke(call.arguments[1], std::uint64_t{0}))  // UTC
    return Outcome::answered(-EFAULT);
  return give(thread, call.arguments[0],
              timeval{.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000});
}

Outcome on_time(Thread& thread, const Call& call) {
  if (!look(thread)) return Outcome::over();
  const time_t now = timespec_of(*reading_of(thread, CLOCK_REALTIME)).tv_sec;
  return give(thread, call.arguments[0], now, now);
}

Outcome on_times(Thread& thread, const Call& call) {
  if (!look(thread)) return Outcome::over();
  const timespec up = timespec_of(*reading_of(thread, CLOCK_MONOTONIC));
  const long ticks = up.tv_sec * kTicksPerSecond + up.tv_nsec / (1'000'000'000 / kTicksPerSecond);
  return give(thread, call.arguments[0], tms{}, ticks);
}

Outcome on_getrusage(Thread& thread, const Call& call) {
  const timespec used = timespec_of(thread.now().time_since_epoch());
  rusage usage{};
  usage.ru_utime = {.tv_sec = used.tv_sec, .tv_usec = used.tv_nsec / 1000};
  return give(thread, call.arguments[1], usage);
}

Outcome on_nanosleep(Thread& thread, const Call& call) {
  const auto asked = thread.tracee().peek<timespec>(call.arguments[0]);
  if (!asked) return Outcome::answered(-EFAULT);
  if (asked->tv_sec < 0 || asked->tv_nsec < 0 || asked->tv_nsec > 999'999'999)
    return Outcome::answered(-EINVAL);
  return sleep_until(thread, thread.now() + duration_of(*asked), call.arguments[1], false);
}

Outcome on_clock_nanosleep(Thread& thread, const Call& call) {
  const auto asked = thread.tracee().peek<timespec>(call.arguments[2]);
  const auto clock = static_cast<clockid_t>(call.arguments[0]);
  if (!asked) return Outcome::answered(-EFAULT);
  if (!reading_of(thread, clock) || asked->tv_sec < 0 || asked->tv_nsec < 0 ||
      asked->tv_nsec > 999'999'999)
    return Outcome::answered(-EINVAL);
  const bool absolute = (call.arguments[1] & TIMER_ABSTIME) != 0;
  const Instant end =
      absolute ? instant_of(thread, clock, *asked) : thread.now() + duration_of(*asked);
  return sleep_until(thread, end, call.arguments[3], absolute);
}

Outcome on_sched_yield(Thread& thread, const Call& /*call*/) {
  thread.spin(Thread::kOfYields);
  return thread.is_over() ? Outcome::over() : Outcome::answered(0);
}

}  // namespace anyrdma::sim::programs
