// Disables pthread_cancel() while a lock is held. Many system calls are cancellation points, and a
// thread that is cancelled in one would keep the lock (rping cancels its completion thread).
#pragma once

#include <pthread.h>

namespace anyrdma::transport::realtime {

/// The calling thread cannot be cancelled while one exists. Cheap: no system call.
class CancellationOff {
 public:
  CancellationOff() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &previous_); }
  ~CancellationOff() { pthread_setcancelstate(previous_, nullptr); }
  CancellationOff(const CancellationOff&) = delete;
  CancellationOff& operator=(const CancellationOff&) = delete;

 private:
  int previous_ = 0;
};

}  // namespace anyrdma::transport::realtime
