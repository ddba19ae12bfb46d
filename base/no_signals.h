// A scope in which no signal handler runs.
#pragma once

#include <pthread.h>

#include <csignal>

namespace anyrdma {

/// Blocks all signals of the calling thread, and of the threads that it starts, until the end of
/// the scope. A thread that starts in it never runs the handlers of the program's signals.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~NoSignals() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace anyrdma
