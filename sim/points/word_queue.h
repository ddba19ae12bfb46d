// A queue of reports that need no answer. A process writes them into memory that it shares with the
// world, which reads them when the process stops next. So a report costs no stop.
//
// A thread may be stopped, or run a signal handler, between any two instructions: a place is
// claimed first, filled, and marked as full last, and the world takes nothing beyond one that is
// not. The world looks only while none of the programs runs, so that the stop orders its accesses
// against theirs; the atomics are for threads and handlers among themselves.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>

#include "transport/fault/plan/question.h"

namespace anyrdma::sim {

/// A system call that no kernel has: its argument is the descriptor of a memfd that is sealed
/// against shrinking and holds a WordQueue of zeros. 0: from now on the world takes words out; else
/// an errno, negative.
inline constexpr long kShareWords = 1'000'003;

/// Zeros are an empty one.
class WordQueue {
 public:
  static constexpr std::uint64_t kCapacity = 64;

  // --- for the process --------------------------------------------------------------------------
  /// Any thread, and signal handlers. False: it is full, until the world has looked.
  [[nodiscard]] bool put(const fault::Question& word) {
    const std::optional<std::uint64_t> place = claim();
    if (place) fill(*place, word);
    return place.has_value();
  }
  /// The two halves of put.
  [[nodiscard]] std::optional<std::uint64_t> claim() {
    std::uint64_t next = claimed_.load(std::memory_order_relaxed);
    do {
      if (next - taken_.load(std::memory_order_relaxed) >= kCapacity) return std::nullopt;
    } while (!claimed_.compare_exchange_weak(next, next + 1, std::memory_order_relaxed));
    return next;
  }
  void fill(std::uint64_t place, const fault::Question& word) {
    Place& filled = places_[place % kCapacity];
    filled.word = word;
    filled.number.store(place + 1, std::memory_order_release);
  }

  // --- for the world ----------------------------------------------------------------------------
  /// Returns the next report; nullopt: none yet. `place` is the world's own count of them; the
  /// process's count is not trusted.
  [[nodiscard]] std::optional<fault::Question> take(std::uint64_t& place) {
    const Place& next = places_[place % kCapacity];
    if (next.number.load(std::memory_order_acquire) != place + 1) return std::nullopt;
    const fault::Question word = next.word;
    taken_.store(++place, std::memory_order_relaxed);
    return word;
  }

 private:
  struct Place {
    std::atomic<std::uint64_t> number;  ///< of the word, from 1, once it is all there
    fault::Question word;
  };

  std::atomic<std::uint64_t> claimed_;
  std::atomic<std::uint64_t> taken_;
  std::array<Place, kCapacity> places_;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "it is shared by processes");

}  // namespace anyrdma::sim
