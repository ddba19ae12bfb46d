// Remembers to which process each connection request was sent, because a request names no peer
// until it is answered. If the process that received a request ends, the sender's CM rejects the
// request, as a kernel would have done.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/fabric/rendezvous/slot.h"
#include "verbs/wire/ids.h"

namespace anyrdma::transport::fabric {

/// Keeps only the latest requests. An older request to a process that ended is retransmitted some
/// seconds later, and then finds that no process listens.
class RequestLog {
 public:
  static constexpr std::size_t kEntries = 1024;

  void note(Slot to, wire::CommId id) {
    entries_[next_] = {to, id};
    next_ = (next_ + 1) % kEntries;
  }
  /// Returns and removes the requests that were sent to the process `to`, in order. A request may
  /// occur several times.
  [[nodiscard]] std::vector<wire::CommId> take(Slot to) {
    std::vector<wire::CommId> found;
    for (std::size_t i = 0; i < kEntries; ++i) {
      Entry& entry = entries_[(next_ + i) % kEntries];
      if (entry.id == wire::CommId{} || entry.to != to) continue;
      found.push_back(entry.id);
      entry = {};
    }
    return found;
  }

 private:
  struct Entry {
    Slot to{};
    wire::CommId id{};  ///< 0: empty
  };
  std::array<Entry, kEntries> entries_{};
  std::size_t next_ = 0;
};

}  // namespace anyrdma::transport::fabric
