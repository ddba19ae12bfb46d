// Disables pthread_cancel() while a lock is held. Many system calls are cancellation points. A
// thread that is cancelled in one would keep the lock. (rping cancels its completion thread, for
// example.)
#pragma once

#include <pthread.h>

namespace anyrdma::transport::realtime {

/// While an object of this class exists, the thread that created it cannot be cancelled. Makes no
/// system call.
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
