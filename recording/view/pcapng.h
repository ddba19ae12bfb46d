// Writes the messages of a recording as a packet capture for Wireshark, with comments.
#pragma once

#include <cstdint>
#include <vector>

#include "recording/view/story.h"

namespace anyrdma::recording {

/// Returns a pcapng file. The comment of the section has the seed, the plan and the hash. Each host
/// is an interface, and its addresses resolve to its name. The comment of a packet has its queue
/// pair, what happened to it, and the fault that hit it. A payload that was not recorded is written
/// as zeros, and the comment says so. Packets that are not RDMA are truncated.
[[nodiscard]] std::vector<std::uint8_t> pcapng_of(const Story& story);

}  // namespace anyrdma::recording
