// What a program has taken away from a memory region that is still registered: a NIC keeps the
// pages that were there, and the program no longer sees them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "verbs/runtime.h"

namespace anyrdma::verbs {

/// The system call that has unmapped or replaced pages.
enum class MemoryCall : std::uint32_t {
  kMunmap,
  kMmap,
  kMremap,
  kMadvise,
  kBrk,
  kShmdt,
  kShmat,
};

[[nodiscard]] constexpr std::string_view name_of(MemoryCall call) {
  switch (call) {
    case MemoryCall::kMunmap:
      return "munmap";
    case MemoryCall::kMmap:
      return "mmap";
    case MemoryCall::kMremap:
      return "mremap";
    case MemoryCall::kMadvise:
      return "madvise";
    case MemoryCall::kBrk:
      return "brk";
    case MemoryCall::kShmdt:
      return "shmdt";
    case MemoryCall::kShmat:
      return "shmat";
  }
  return "a system call";
}

/// The parts of one region whose pages are no longer those that were registered. Of more than
/// kPartsMost parts, the later ones are not kept. The supervisor of a simulated host writes it into
/// the memory of the process.
struct LostMemory {
  static constexpr std::size_t kPartsMost = 8;
  /// A range of addresses, and the call that changed it.
  struct Part {
    std::uint64_t begin = 0;  ///< first address
    std::uint64_t end = 0;    ///< address behind the last byte
    MemoryCall call{};
    Runtime::Mark mark{};  ///< the time and the thread of the call
  };

  std::uint32_t count = 0;  ///< of `parts`
  std::array<Part, kPartsMost> parts{};

  void add(const Part& part) {
    if (count < kPartsMost && part.begin < part.end) parts[count++] = part;
  }
  /// Returns the first part that overlaps [begin, end). Null: there is none.
  [[nodiscard]] const Part* find(std::uint64_t begin, std::uint64_t end) const {
    const auto last = parts.begin() + count;
    const auto found = std::find_if(parts.begin(), last, [&](const Part& each) {
      return each.begin < end && begin < each.end;
    });
    return found == last ? nullptr : &*found;
  }
};
static_assert(std::is_trivially_copyable_v<LostMemory>, "it is copied from process to process");

}  // namespace anyrdma::verbs
