// The threads that wait for a futex, in FIFO order. Source: futex(2).
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// Identifies a futex word: an address in one process's memory, or an offset in a file that
/// processes share.
struct WordKey {
  std::uint64_t process = 0;  ///< 0: a file's
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t offset = 0;  ///< or address
  auto operator<=>(const WordKey&) const = default;
};

class Futexes {
 public:
  /// The call futex(2) of a thread.
  [[nodiscard]] Outcome call(Thread& thread, const Call& call);
  /// The call futex_waitv(2): waits for any of several futexes.
  [[nodiscard]] Outcome wait_for_any(Thread& thread, const Call& call);
  /// Wakes the threads that wait for a futex word which the kernel has changed because a thread of
  /// `process` ended.
  void on_thread_gone(const Process& process);
  /// FUTEX_WAIT, say.
  [[nodiscard]] static std::uint64_t operation_of(const Call& call);
  /// Returns the key of the futex word at the call's first argument. nullopt: the address is not
  /// mapped.
  [[nodiscard]] static std::optional<WordKey> key_of(Thread& thread, const Call& call);
  /// The result for the thread that waited.
  [[nodiscard]] static Outcome answer_to(Woken woken);

 private:
  struct Waiter {
    WordKey key;
    std::uint64_t address;
    std::uint32_t expected;
    std::uint32_t bits;
    Thread* thread;
    std::size_t number = 0;  ///< among those of futex_waitv
  };

  [[nodiscard]] Outcome wait(Thread& thread, const Call& call, std::uint32_t bits);
  [[nodiscard]] long wake(const WordKey& key, std::uint64_t count, std::uint32_t bits);
  [[nodiscard]] Outcome requeue(Thread& thread, const Call& call, bool compare);
  [[nodiscard]] Outcome wake_and_change(Thread& thread, const Call& call);
  std::list<Waiter> waiters_;
};

}  // namespace anyrdma::sim::programs
