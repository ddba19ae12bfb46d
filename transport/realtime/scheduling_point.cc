#include "transport/realtime/scheduling_point.h"

#include <sched.h>
#include <unistd.h>

#include <cerrno>

#include "transport/realtime/passing.h"
#include "transport/realtime/point_call.h"

namespace anyrdma::transport::realtime {

void detail::come_to_point() {
  if (&::anyrdma_pass_point != nullptr && ::anyrdma_pass_point()) return;
  const int error = errno;
  if (::syscall(kPointCall) != 0) points_wanted.store(false, std::memory_order_relaxed);
  errno = error;
}

void enter_world() {
  detail::in_a_world.store(true, std::memory_order_relaxed);
}

void poll_in_vain() {
  const bool in_a_world = detail::in_a_world.load(std::memory_order_relaxed);
  if (!in_a_world || ::syscall(kPollCall) != 0) ::sched_yield();
}

void want_scheduling_points() {
  detail::points_wanted.store(true, std::memory_order_relaxed);
}

}  // namespace anyrdma::transport::realtime
