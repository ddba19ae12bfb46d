#include "transport/realtime/scheduling_point.h"

#include <unistd.h>

#include <cerrno>

#include "transport/realtime/point_call.h"

namespace anyrdma::transport::realtime {

void detail::come_to_point() {
  const int error = errno;
  if (::syscall(kPointCall) != 0) points_wanted.store(false, std::memory_order_relaxed);
  errno = error;
}

void want_scheduling_points() {
  detail::points_wanted.store(true, std::memory_order_relaxed);
}

}  // namespace anyrdma::transport::realtime
