// The calls of one thread between begin and end of an extended interface, while other threads wait:
// ibv_start_poll .. ibv_end_poll, ibv_wr_start .. ibv_wr_complete.
#pragma once

#include <cstdint>

#include "verbs/runtime.h"

namespace anyrdma::verbs::soft {

class Bracket {
 public:
  /// `one_thread`: the application has promised that no two are inside at once.
  explicit Bracket(bool one_thread) : one_thread_(one_thread) {}
  Bracket(const Bracket&) = delete;
  Bracket& operator=(const Bracket&) = delete;

  /// Waits until the other thread (or fiber) has left, as rdma-core's drivers do: they spin. False:
  /// the caller is inside already, and would wait for itself. Outside the critical section.
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
  /// Not 0. The fiber's number where the runtime has fibers (odd), else an address that is the
  /// thread's own (even).
  [[nodiscard]] static std::uintptr_t caller(Runtime& runtime) {
    const std::uint64_t fiber = runtime.mark().who;
    return fiber != 0 ? 2 * fiber + 1 : reinterpret_cast<std::uintptr_t>(&place_of_thread);
  }
  alignas(2) inline static thread_local char place_of_thread = 0;

  const bool one_thread_;
  std::uintptr_t owner_ = 0;
};

}  // namespace anyrdma::verbs::soft
