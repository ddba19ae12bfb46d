// Scheduling points: places where the schedule of a world may run another thread, deliver a packet
// or fire a timer before this thread continues (docs/explore.md). In real time, and in default
// order, a point costs one load.
#pragma once

#include <atomic>

namespace anyrdma::transport::realtime {

namespace detail {
inline std::atomic<bool> points_wanted{false};
inline std::atomic<bool> in_a_world{false};
void come_to_point();
}  // namespace detail

/// Notes that this process is simulated. Any thread.
void enter_world();

/// Yields after an empty poll: sched_yield(2), or in a simulated world until something happens
/// there. Any thread that holds no lock of the library.
void poll_in_vain();

/// Makes each later scheduling_point() of this process call the world. Any thread.
void want_scheduling_points();

/// Whether the world wants them. Any thread.
[[nodiscard]] inline bool scheduling_points_wanted() {
  return detail::points_wanted.load(std::memory_order_relaxed);
}

/// A scheduling point, if the world wants them. Any thread that holds no lock of the library. errno
/// is unchanged.
inline void scheduling_point() {
  if (scheduling_points_wanted()) [[unlikely]]
    detail::come_to_point();
}

}  // namespace anyrdma::transport::realtime
