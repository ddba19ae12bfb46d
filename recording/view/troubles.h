// Finds typical troubles in a recording: waits for receives, repeated packets, flushed work, and
// how full queues were.
#pragma once

#include <string>
#include <vector>

#include "recording/view/story.h"

namespace anyrdma::recording {

/// Lines, the largest numbers first; each list is empty if there was nothing of the kind.
struct Troubles {
  /// RNR NAKs by queue pair that had no receive, and by the wait that they ask for:
  /// "5 times, 655.36 ms each, of s2#qp0x4011".
  std::vector<std::string> not_ready{};
  /// Packets of data that were sent again, by sender: "12 packets of c#qp0x11, after 2 timeouts".
  /// A timeout is a repetition without a NAK since the packet was sent last.
  std::vector<std::string> repeated{};
  /// CM messages that were sent again: "REQ 3".
  std::vector<std::string> repeated_messages{};
  /// Completions with WR_FLUSH_ERR: "16 of s2#qp0x4011".
  std::vector<std::string> flushed{};
  /// Work that was posted and whose completion, or a later one's, was not polled:
  /// "s2#qp0x4011: 16 sends, 32 receives". Receives of shared receive queues are not counted.
  std::vector<std::string> depths{};
};
[[nodiscard]] Troubles troubles_of(const Story& story);

}  // namespace anyrdma::recording
