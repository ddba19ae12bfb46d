// A story's messages as a capture for Wireshark, with what it cannot know as comments.
#pragma once

#include <cstdint>
#include <vector>

#include "recording/view/story.h"

namespace anyrdma::recording {

/// A pcapng file: seed, plan and hash as the section's comment, an interface for each host, names
/// of hosts for their addresses, and at each packet whose it is, what became of it and which fault
/// has struck it. Zeros stand for a payload that was not recorded, and the comment says so; what
/// is not RDMA is cut off.
[[nodiscard]] std::vector<std::uint8_t> pcapng_of(const Story& story);

}  // namespace anyrdma::recording
