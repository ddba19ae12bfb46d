// One work request that was posted and whose buffers are the device's, and the ranges of memory of
// all of them.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "verbs/runtime.h"

namespace anyrdma::verbs::soft {

/// The access of a device to the buffers of a request.
enum class BufferUse : std::uint8_t {
  kNone,   ///< there are none, or the data is inline
  kReads,  ///< SEND, WRITE
  kFills,  ///< receive, READ, atomic operation
};

/// Where bytes are: [begin, end).
struct MemoryRange {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

struct Posting {
  std::uint64_t wr_id = 0;
  std::uint64_t length = 0;  ///< of the list
  std::uint32_t qp_num = 0;  ///< 0: of a shared receive queue
  ibv_wr_opcode opcode{};    ///< unless it is a receive
  bool is_receive = false;
  bool signaled = false;
  BufferUse use = BufferUse::kNone;
  const ibv_pd* domain = nullptr;
  std::vector<ibv_sge> list{};
  std::vector<MemoryRange> ranges{};  ///< of the list, as far as its keys were valid
  Runtime::Mark mark{};               ///< of the posting
  std::vector<void*> stack{};
  std::optional<std::uint64_t> digest{};  ///< kReads: at the posting; kFills: once it is filled
  std::uint64_t filled = 0;               ///< kFills: bytes of the message
  bool overlaps = false;                  ///< kFills: another one that fills has some of its bytes
  std::string hit{};  ///< the request that filled some of its bytes since; empty: none

  std::size_t index = 0;  ///< of the requests of its send queue, from 1

  /// For the next request; keeps the memory of its lists.
  void clear();
};

/// "SEND with wr_id 7 on queue pair 17 (4096 bytes)".
[[nodiscard]] std::string name_of(const Posting& posting);

/// Pieces of memory with the requests that they belong to. They may overlap.
class PostedRanges {
 public:
  void add(const MemoryRange& range, Posting& posting);
  void remove(const MemoryRange& range, const Posting& posting);
  [[nodiscard]] bool empty() const { return ranges_.empty(); }
  /// Calls `visit` with some posting each that has bytes of the range, until it returns true. Looks
  /// at 64 at most, so that a thousand receives into one buffer cost no more.
  template <class Visit>
  void find_overlapping(const MemoryRange& range, Visit visit) const {
    if (ranges_.empty()) return;
    std::size_t looks = 64;
    auto next = ranges_.lower_bound(range.end);
    while (next != ranges_.begin() && looks-- != 0) {
      --next;
      if (next->first + longest_ <= range.begin) return;
      if (next->second.end > range.begin && visit(*next->second.posting)) return;
    }
  }

 private:
  struct Entry {
    std::uintptr_t end;
    Posting* posting;
  };
  std::multimap<std::uintptr_t, Entry> ranges_;  ///< by their beginning
  std::uintptr_t longest_ = 0;                   ///< of all there were
};

}  // namespace anyrdma::verbs::soft
