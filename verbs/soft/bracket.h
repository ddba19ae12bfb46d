// What one thread does between two calls of an extended interface, while others wait:
// ibv_start_poll .. ibv_end_poll, ibv_wr_start .. ibv_wr_complete.
#pragma once

#include <pthread.h>

#include <cerrno>

#include "verbs/assert.h"

namespace anyrdma::verbs::soft {

class Bracket {
 public:
  /// `one_thread`: the application has promised that no two are inside at once.
  explicit Bracket(bool one_thread) : one_thread_(one_thread) {
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_ERRORCHECK);
    pthread_mutex_init(&mutex_, &attributes);
    pthread_mutexattr_destroy(&attributes);
  }
  ~Bracket() { pthread_mutex_destroy(&mutex_); }
  Bracket(const Bracket&) = delete;
  Bracket& operator=(const Bracket&) = delete;

  void enter() {
    if (one_thread_) return;
    const int error = pthread_mutex_lock(&mutex_);
    // It was opened twice and not closed in between; rdma-core would wait for itself.
    CM_ASSERT(error != EDEADLK);
  }
  void leave() {
    if (!one_thread_) pthread_mutex_unlock(&mutex_);
  }

 private:
  const bool one_thread_;
  pthread_mutex_t mutex_;
};

}  // namespace anyrdma::verbs::soft
