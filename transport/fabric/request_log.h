// The processes to which connection requests went. A request names no peer until it is answered. If
// the process that got it dies first, its kernel would have rejected it; the log allows that
// rejection.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/fabric/rendezvous/slot.h"
#include "verbs/wire/ids.h"

namespace anyrdma::transport::fabric {

/// Keeps only the latest requests: for an older one, the next repetition finds out some seconds
/// later that there is no listener.
class RequestLog {
 public:
  static constexpr std::size_t kEntries = 1024;

  void note(Slot to, wire::CommId id) {
    entries_[next_] = {to, id};
    next_ = (next_ + 1) % kEntries;
  }
  /// The requests that went there, in order, each once or more; they are forgotten.
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
