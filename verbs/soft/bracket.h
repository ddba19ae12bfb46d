// A lock that is held from the begin call to the end call of an extended interface, such as
// ibv_start_poll to ibv_end_poll or ibv_wr_start to ibv_wr_complete. Other threads wait meanwhile.
#pragma once

#include <cstdint>

#include "verbs/runtime.h"

namespace anyrdma::verbs::soft {

class Bracket {
 public:
  /// `one_thread`: the application has promised that two threads never use the object at the same
  /// time.
  explicit Bracket(bool one_thread) : one_thread_(one_thread) {}
  Bracket(const Bracket&) = delete;
  Bracket& operator=(const Bracket&) = delete;

  /// Takes the lock. Spins until another thread (or fiber) has released it, as rdma-core's drivers
  /// do. Returns false if the caller holds the lock already, and so would wait for itself. Called
  /// outside of the runtime's critical section.
  [[nodiscard]] bool enter(Runtime& runtime) {
    if (one_thread_) return true;
    const std::uintptr_t self = caller(runtime);
    std::uintptr_t owner = 0;
    while (!__atomic_compare_exchange_n(&owner_, &owner, self, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
      if (owner == self) return false;
      runtime.spin();
      owner = 0;
    }
    return true;
  }
  void leave() { __atomic_store_n(&owner_, 0, __ATOMIC_RELEASE); }

 private:
  /// Returns an identifier of the calling thread, never 0. If the runtime has fibers (user-space
  /// threads), it is an odd number made of the fiber's number; else the address of a thread-local
  /// variable, which is even.
  [[nodiscard]] static std::uintptr_t caller(Runtime& runtime) {
    const std::uint64_t fiber = runtime.mark().who;
    return fiber != 0 ? 2 * fiber + 1 : reinterpret_cast<std::uintptr_t>(&place_of_thread);
  }
  alignas(2) inline static thread_local char place_of_thread = 0;

  const bool one_thread_;
  std::uintptr_t owner_ = 0;
};

}  // namespace anyrdma::verbs::soft
