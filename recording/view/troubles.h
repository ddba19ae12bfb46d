// Finds typical problems in a recording: requests that waited for receives, packets that were sent
// again, flushed work requests, and how full the queues were.
#pragma once

#include <string>
#include <vector>

#include "recording/view/story.h"

namespace anyrdma::recording {

/// Lines of text, the largest numbers first. A list is empty if the recording has nothing of that
/// kind.
struct Troubles {
  /// RNR NAKs, counted for each queue pair that had no receive posted, and for each wait (RNR
  /// timer) that the NAKs asked for: "5 times, 655.36 ms each, of s2#qp0x4011".
  std::vector<std::string> not_ready{};
  /// Data packets that were sent again, counted for each sender: "12 packets of c#qp0x11, after 2
  /// timeouts". A packet that was sent again without a NAK since its last transmission counts as
  /// one timeout.
  std::vector<std::string> repeated{};
  /// CM messages that were sent again, counted for each kind of message: "REQ 3".
  std::vector<std::string> repeated_messages{};
  /// Completions with status WR_FLUSH_ERR, counted for each queue pair: "16 of s2#qp0x4011".
  std::vector<std::string> flushed{};
  /// The largest number of work requests that a queue pair held at once: "s2#qp0x4011: 16 sends, 32
  /// receives". A request counts until its completion, or that of a later request, was polled.
  /// Receives of shared receive queues are not counted.
  std::vector<std::string> depths{};
};
[[nodiscard]] Troubles troubles_of(const Story& story);

}  // namespace anyrdma::recording
