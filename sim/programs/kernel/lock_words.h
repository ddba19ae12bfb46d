// Mutexes with priority inheritance, whose futex word contains the owner's thread id. All threads
// have the same priority in the simulator, so waiters get the lock in FIFO order. Source: futex(2),
// "Priority-inheritance futexes".
#pragma once

#include <cstdint>
#include <list>

#include "sim/programs/kernel/futexes.h"
#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

class LockWords {
 public:
  /// FUTEX_LOCK_PI, FUTEX_LOCK_PI2 and FUTEX_TRYLOCK_PI.
  [[nodiscard]] Outcome lock(Thread& thread, const Call& call);
  /// FUTEX_UNLOCK_PI.
  [[nodiscard]] Outcome unlock(Thread& thread, const Call& call);
  /// Gives the locks that ended threads of the host held to the next threads that wait for them.
  void on_thread_gone(const Host& host);

 private:
  struct Waiter {
    WordKey key;
    std::uint64_t address;
    Thread* thread;
  };

  [[nodiscard]] bool is_waited_for(const WordKey& key) const;
  [[nodiscard]] bool give_to_next(const WordKey& key, std::uint32_t flags);

  std::list<Waiter> waiters_;
};

}  // namespace anyrdma::sim::programs
