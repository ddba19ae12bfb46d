// The protocol of direct access to another process's memory, and its table of permissions. To
// withdraw a permission, the owner moves a file offset that both processes share. No process waits
// for another one, even if that one is stopped for a long time.
//
// The owner T of the memory keeps a table in a sealed memfd, which other processes can only read. T
// gives each other process P a descriptor of T's memory (/proc/self/mem). It is an open file
// description for P alone, whose offset both T and P move.
//
// To write to the memory of the owner T, another process P makes three steps. Step 1: lseek to the
// address. Step 2: read the table of permissions again, and give up if it has changed since the
// request was checked. Step 3: writev, which writes at the description's current offset.
//
// To withdraw a permission, the owner T makes two steps. Step a: change the table of permissions.
// Step b: lseek to an address at which nothing is mapped, on the open file description of every
// other process P.
//
// The kernel makes lseek and writev on one open file description mutually exclusive. The offset has
// a lock (Linux's fdget_pos), which is taken for regular files such as /proc/PID/mem if the
// description has more than one reference. So the steps of the writer P (1 to 3) and of the owner T
// (a, b) have three orders:
// - Step 1 of P comes after step b of T. Then P sees in step 2 that T has changed the table.
// - Steps 1 and 3 of P come before step b of T. Then P's write is complete when T continues.
// - Step b of T comes between steps 1 and 3 of P. Then P's write fails, because nothing is mapped
// at the offset.
//
// The owner T waits at most while the kernel copies: a process can be stopped or frozen only on its
// way back from the kernel, where it does not hold the lock of the file offset. Process P reads its
// source memory before it calls writev, because the kernel would otherwise hold the lock while it
// pages that memory in.
//
// To read the memory of T, process P reads the table, calls preadv, and reads the table again. If
// the table has changed, P drops the data.
//
// If P has no permission, or finds that the table changed, P sends packets instead, and T decides
// what happens.
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

/// One entry of the table of permissions. The owner of the table writes an entry while other
/// processes read it.
template <class Value>
class NearRecord {
 public:
  using Version = std::uint64_t;
  /// The version that read() returns for an empty entry.
  static constexpr Version kNone = 0;

  /// Reads the entry. Any process may call this. kNone: the entry is empty or is being changed.
  /// Version numbers are never reused.
  [[nodiscard]] Version read(Value& value) const {
    const Version before = version_.load(std::memory_order_acquire);
    if (!is_there(before)) return kNone;
    std::array<std::uint64_t, kWords> words;
    for (std::size_t i = 0; i < kWords; ++i) words[i] = words_[i].load(std::memory_order_relaxed);
    // Memory order: a reader that sees a word of the entry's next value also sees the changed
    // version, which was written before that word.
    std::atomic_thread_fence(std::memory_order_acquire);
    if (version_.load(std::memory_order_relaxed) != before) return kNone;
    std::memcpy(static_cast<void*>(&value), words.data(), sizeof value);
    return before;
  }
  /// Whether the entry still has that version, so that the data read meanwhile is valid. Any
  /// process may call this.
  [[nodiscard]] bool is_still(Version version) const {
    return version_.load(std::memory_order_acquire) == version;
  }

  /// Empties the entry. Only the owner of the table may call this. False: the entry was empty.
  /// True: another process may still be using the old value.
  [[nodiscard]] bool withdraw() {
    const Version version = version_.load(std::memory_order_relaxed);
    if (!is_there(version)) return false;
    version_.store(version + 1, std::memory_order_relaxed);
    // Memory order: a reader that sees what the owner's program writes after withdraw() also sees
    // the changed version.
    std::atomic_thread_fence(std::memory_order_seq_cst);
    return true;
  }
  /// Sets the value of an empty entry. Only the owner of the table may call this.
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

/// The number of memory regions in the table, which are found by the index in their key. Regions
/// with a larger index can be accessed only with packets.
inline constexpr std::uint32_t kNearRegions = 1u << 16;
inline constexpr std::uint32_t kNearEnds = kQpnCount;

/// The table of permissions in shared memory. All bytes are zero at first.
struct NearSegment {
  std::atomic<std::uint64_t> magic;
  std::atomic<std::uint64_t> incarnation;
  std::atomic<std::uint32_t> open;   ///< 0: no access is allowed now
  std::atomic<std::uint32_t> awake;  ///< not 0: the owner polls. The value influences only speed

  /// For each process number (slot): the number of the memory description that this process may
  /// use. 0: none.
  std::array<std::atomic<std::uint64_t>, kSlotCount> grants;
  std::array<NearRecord<verbs::soft::NearMemory::End>, kNearEnds> ends;           ///< by QPN
  std::array<NearRecord<verbs::soft::NearMemory::Region>, kNearRegions> regions;  ///< by key
};

/// Identifies the layout of the table. Another version of the software has another number.
inline constexpr std::uint64_t kNearMagic = 0x616e'796e'6561'7203 ^ (sizeof(NearSegment) << 8);

}  // namespace anyrdma::transport::fabric
