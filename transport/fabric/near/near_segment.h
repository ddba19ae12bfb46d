// Direct access to the memory of other members of a fabric: the table of permissions, and the
// protocol, revocation by moving a shared file offset. No process waits for another one, however
// long that is stopped.
//
// The owner T keeps a table in a sealed memfd, which others can only read. It gives each other
// member P a descriptor of its own memory (/proc/self/mem): an open file description for P alone,
// whose offset both of them move.
//
// P writes:    1. lseek to the address;
//              2. read the table again: give up if it changed since the request was checked;
//              3. writev, which writes at the description's current offset.
// T withdraws: a. change the table;
//              b. lseek to an unmapped address, on the description of every P.
//
// The kernel makes lseek and writev of one description mutually exclusive: its offset has a lock
// (Linux's fdget_pos), which is taken for regular files such as /proc/PID/mem if the description
// has more than one reference. So there are three orders:
//   - 1 after b: then 2 sees a.
//   - 1 and 3 before b: the write is over when T goes on.
//   - 1 before b, 3 after b: the write fails, since nothing is mapped there.
// A process is stopped or frozen only on its way back from the kernel, where it does not hold that
// lock. So T waits at most for the kernel's copying. P touches the source before, since the kernel
// would hold the lock while it pages the source in.
//
// P reads:     the table; preadv; the table again. If it has changed, P drops the data.
//
// A process that is refused, or finds that the table changed, sends packets instead, and T decides.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "transport/fabric/rendezvous/slot.h"
#include "verbs/soft/near_memory.h"

namespace anyrdma::transport::fabric {

/// One entry of the table. Its owner writes it while others read it.
template <class Value>
class NearRecord {
 public:
  using Version = std::uint64_t;
  /// The version of an empty entry.
  static constexpr Version kNone = 0;

  /// Reads the entry, in any process. kNone: the entry is empty or is being changed. Versions are
  /// never reused.
  [[nodiscard]] Version read(Value& value) const {
    const Version before = version_.load(std::memory_order_acquire);
    if (!is_there(before)) return kNone;
    std::array<std::uint64_t, kWords> words;
    for (std::size_t i = 0; i < kWords; ++i) words[i] = words_[i].load(std::memory_order_relaxed);
    // A reader that sees a word of the next value also sees the version before that word.
    std::atomic_thread_fence(std::memory_order_acquire);
    if (version_.load(std::memory_order_relaxed) != before) return kNone;
    std::memcpy(static_cast<void*>(&value), words.data(), sizeof value);
    return before;
  }
  /// Whether the entry still has that version, so that data read under it is valid. Any process.
  [[nodiscard]] bool is_still(Version version) const {
    return version_.load(std::memory_order_acquire) == version;
  }

  /// Empties the entry. Only its owner may call this. False: it was empty. True: another process
  /// may be using the old value.
  [[nodiscard]] bool withdraw() {
    const Version version = version_.load(std::memory_order_relaxed);
    if (!is_there(version)) return false;
    version_.store(version + 1, std::memory_order_relaxed);
    // A reader that sees later writes of the program also finds the new version.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return true;
  }
  /// Sets the value of an empty entry. Only its owner may call this.
  void set(const Value& value) {
    std::array<std::uint64_t, kWords> words{};
    std::memcpy(words.data(), &value, sizeof value);
    for (std::size_t i = 0; i < kWords; ++i) words_[i].store(words[i], std::memory_order_relaxed);
    const Version version = version_.load(std::memory_order_relaxed);
    version_.store((version | 1) + 1, std::memory_order_release);
  }

 private:
  static_assert(std::is_trivially_copyable_v<Value>);
  static_assert(std::atomic<std::uint64_t>::is_always_lock_free);
  static constexpr std::size_t kWords = (sizeof(Value) + 7) / 8;

  static bool is_there(Version version) { return version != kNone && (version & 1) == 0; }

  std::atomic<Version> version_;  ///< odd: it was withdrawn
  std::array<std::atomic<std::uint64_t>, kWords> words_;
};

/// The number of region entries, by index of the region's key. Other regions can only be accessed
/// by packets.
inline constexpr std::uint32_t kNearRegions = 1u << 16;
inline constexpr std::uint32_t kNearEnds = kQpnCount;

/// The table of permissions in shared memory. Initially zero.
struct NearSegment {
  std::atomic<std::uint64_t> magic;
  std::atomic<std::uint64_t> incarnation;
  std::atomic<std::uint32_t> open;   ///< 0: nothing is allowed now
  std::atomic<std::uint32_t> awake;  ///< not 0: the owner polls; nothing but speed depends on it
  /// By slot: the number of the description of memory that the process there may use; 0: none.
  std::array<std::atomic<std::uint64_t>, kSlotCount> grants;
  std::array<NearRecord<verbs::soft::NearMemory::End>, kNearEnds> ends;           ///< by QPN
  std::array<NearRecord<verbs::soft::NearMemory::Region>, kNearRegions> regions;  ///< by key
};

/// Identifies the layout of the table: another version has another number.
inline constexpr std::uint64_t kNearMagic = 0x616e'796e'6561'7203 ^ (sizeof(NearSegment) << 8);

}  // namespace anyrdma::transport::fabric
