// What one thread does between two calls of an extended interface, while others wait:
// ibv_start_poll .. ibv_end_poll, ibv_wr_start .. ibv_wr_complete.
#pragma once

namespace anyrdma::verbs::soft {

class Bracket {
 public:
  /// `one_thread`: the application has promised that no two are inside at once.
  explicit Bracket(bool one_thread) : one_thread_(one_thread) {}
  Bracket(const Bracket&) = delete;
  Bracket& operator=(const Bracket&) = delete;

  /// Spins until the other has left, as rdma-core's drivers do. False: this very thread is inside
  /// already, and would wait for itself there.
  [[nodiscard]] bool enter() {
    if (one_thread_) return true;
    const char* const self = &mark;
    const char* owner = nullptr;
    while (!__atomic_compare_exchange_n(&owner_, &owner, self, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
      if (owner == self) return false;
      owner = nullptr;
    }
    return true;
  }
  void leave() { __atomic_store_n(&owner_, nullptr, __ATOMIC_RELEASE); }

 private:
  inline static thread_local char mark = 0;  ///< its address is the thread's name

  const bool one_thread_;
  const char* owner_ = nullptr;
};

}  // namespace anyrdma::verbs::soft
