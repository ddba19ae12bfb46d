// A queue of entries (recorded events, recording/packed.h) from a process to the simulator. The
// process writes entries into shared memory. The simulator reads them when the process stops for
// another reason, so that no entry costs a stop of its own.
//
// Order of accesses to the queue: a thread may be stopped, or run a signal handler, between any two
// instructions. Therefore a writer claims space first, then fills it, and marks it as full last.
// The simulator takes no entry behind space that is not full yet. The simulator reads only while no
// program runs, so the stop of the program orders its accesses; the atomics order those of threads
// and signal handlers.
//
// The simulator checks every length in the memory and keeps its own count of taken entries, because
// a faulty process may write anything there.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>

namespace anyrdma::sim {

/// A system call that exists only in the simulator: the program shares the memory of an EntryQueue
/// with the simulator. The argument is the descriptor of a memfd that is sealed against shrinking
/// and contains an EntryQueue of zeros. Returns 0, after which the simulator takes entries out; or
/// a negative errno.
inline constexpr long kShareEntries = 1'000'003;
/// A system call that exists only in the simulator: before the call returns, the simulator takes
/// out all entries of the queue. There are no arguments.
inline constexpr long kTakeEntries = 1'000'008;

/// Zeros are an empty one.
class EntryQueue {
 public:
  static constexpr std::uint64_t kBytes = std::uint64_t{1} << 16;
  /// The longest entry.
  static constexpr std::size_t kEntryBytesMax = 2048;

  // --- for the process --------------------------------------------------------------------------

  /// A part of the ring that a writer has claimed for an entry.
  struct Space {
    std::uint64_t at = 0;
    std::uint64_t skipped = 0;  ///< bytes before it, up to the end of the ring
    std::uint32_t bytes = 0;
  };
  /// Appends an entry; callable from any thread and from signal handlers. Returns false if the
  /// queue is full; there is space again when the simulator has taken entries out.
  [[nodiscard]] bool put(std::span<const std::uint8_t> entry) {
    const auto space = claim(entry.size());
    if (space) fill(*space, entry);
    return space.has_value();
  }
  /// Claims space for an entry of `bytes` bytes: the first half of put(). nullopt: the queue is
  /// full, or the entry would be empty or too long.
  [[nodiscard]] std::optional<Space> claim(std::size_t bytes) {
    if (bytes == 0 || bytes > kEntryBytesMax) return std::nullopt;
    Space space{.bytes = static_cast<std::uint32_t>(bytes)};
    std::uint64_t next = claimed_.load(std::memory_order_relaxed);
    std::uint64_t end = 0;
    do {
      const std::uint64_t left = kBytes - next % kBytes;
      space.skipped = left < whole(bytes) ? left : 0;
      space.at = next + space.skipped;
      end = space.at + whole(bytes);
      if (end - taken_.load(std::memory_order_relaxed) > kBytes) return std::nullopt;
    } while (!claimed_.compare_exchange_weak(next, end, std::memory_order_relaxed));
    return space;
  }
  void fill(const Space& space, std::span<const std::uint8_t> entry) {
    if (space.skipped != 0)
      header(space.at - space.skipped).store(kSkips | space.skipped, std::memory_order_release);
    std::memcpy(&bytes_[space.at % kBytes + kHeaderBytes], entry.data(), entry.size());
    header(space.at).store(entry.size(), std::memory_order_release);
  }

  // --- for the world ----------------------------------------------------------------------------
  enum class Got : std::uint8_t { kNothing, kEntry, kNonsense };
  /// Copies the next entry to `copy` and advances `place`, the number of bytes taken so far, a
  /// multiple of 8. Called by the simulator. Returns kNonsense if the memory contains no valid
  /// entry; then nothing more may be taken.
  [[nodiscard]] Got take(std::uint64_t& place, std::array<std::uint8_t, kEntryBytesMax>& copy,
                         std::size_t& size) {
    std::uint64_t head = header(place).load(std::memory_order_acquire);
    if (head == 0) return Got::kNothing;
    if ((head & kSkips) != 0) {
      const std::uint64_t left = kBytes - place % kBytes;
      if (head != (kSkips | left)) return Got::kNonsense;
      release(place, left);
      head = header(place).load(std::memory_order_acquire);
      if (head == 0) return Got::kNothing;
    }
    if (head > kEntryBytesMax || whole(head) > kBytes - place % kBytes) return Got::kNonsense;
    size = static_cast<std::size_t>(head);
    std::memcpy(copy.data(), &bytes_[place % kBytes + kHeaderBytes], size);
    release(place, whole(size));
    return Got::kEntry;
  }

 private:
  static constexpr std::uint64_t kHeaderBytes = sizeof(std::uint64_t);
  /// The header value of unused space at the end of the ring. The next entry is then at the
  /// beginning of the ring.
  static constexpr std::uint64_t kSkips = std::uint64_t{1} << 63;

  [[nodiscard]] static constexpr std::uint64_t whole(std::uint64_t bytes) {
    return kHeaderBytes + (bytes + kHeaderBytes - 1) / kHeaderBytes * kHeaderBytes;
  }
  [[nodiscard]] std::atomic_ref<std::uint64_t> header(std::uint64_t place) {
    return std::atomic_ref(*reinterpret_cast<std::uint64_t*>(&bytes_[place % kBytes]));
  }
  /// Overwrites an entry that the simulator has taken with zeros, so that its old header is never
  /// mistaken for that of a new entry.
  void release(std::uint64_t& place, std::uint64_t bytes) {
    std::memset(&bytes_[place % kBytes], 0, static_cast<std::size_t>(bytes));
    place += bytes;
    taken_.store(place, std::memory_order_relaxed);
  }

  std::atomic<std::uint64_t> claimed_;
  std::atomic<std::uint64_t> taken_;
  alignas(std::uint64_t) std::array<std::uint8_t, kBytes> bytes_;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "it is shared by processes");

}  // namespace anyrdma::sim
