// Scheduling points: places where the simulator may run another thread, deliver a packet or fire a
// timer before this thread continues (docs/explore.md). In real time, and in the default order of
// the schedule, a scheduling point costs one load instruction.
#pragma once

#include <atomic>

namespace anyrdma::transport::realtime {

namespace detail {
inline std::atomic<bool> points_wanted{false};
inline std::atomic<bool> in_a_world{false};
void come_to_point();
}  // namespace detail

/// Call when this process is found to run on a simulated host. Any thread.
void enter_world();

/// Call after an empty poll. In real time it yields (sched_yield(2)). On a simulated host it waits
/// until something happens in the simulation. Any thread that holds no lock of the library.
void poll_in_vain();

/// Makes each later scheduling_point() of this process call the simulator. Any thread.
void want_scheduling_points();

/// Whether scheduling_point() calls the simulator. Any thread.
[[nodiscard]] inline bool scheduling_points_wanted() {
  return detail::points_wanted.load(std::memory_order_relaxed);
}

/// A scheduling point: calls the simulator if want_scheduling_points() was called, else returns at
/// once. Any thread that holds no lock of the library. errno is unchanged.
inline void scheduling_point() {
  if (scheduling_points_wanted()) [[unlikely]]
    detail::come_to_point();
}

}  // namespace anyrdma::transport::realtime
