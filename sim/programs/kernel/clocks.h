// A program's clocks, which show virtual time. Source: clock_gettime(2).
#pragma once

#include <ctime>
#include <optional>

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

[[nodiscard]] Duration duration_of(const timespec& value);
[[nodiscard]] timespec timespec_of(Duration duration);

/// Returns the time that a clock of a program shows. nullopt: there is no such clock.
[[nodiscard]] std::optional<Duration> reading_of(const Thread& thread, clockid_t clock);
/// Whether `clock` measures the CPU time of a process or a thread. In the simulator, such a clock
/// shows the virtual time since the world's beginning.
[[nodiscard]] bool is_of_processor(clockid_t clock);
/// When a clock shows that.
[[nodiscard]] Instant instant_of(const Thread& thread, clockid_t clock, const timespec& reading);

// The calls.
[[nodiscard]] Outcome on_clock_gettime(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_clock_getres(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_gettimeofday(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_time(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_times(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_getrusage(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_nanosleep(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_clock_nanosleep(Thread& thread, const Call& call);
[[nodiscard]] Outcome on_sched_yield(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
