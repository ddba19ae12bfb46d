// A story's messages as a capture for Wireshark, with comments.
#pragma once

#include <cstdint>
#include <vector>

#include "recording/view/story.h"

namespace anyrdma::recording {

/// Returns a pcapng file. The section's comment has seed, plan and hash. Each host is an interface,
/// and its addresses have its name. A packet's comment has its queue pair, its fate and the fault
/// that hit it. A payload that was not recorded is zeros, and the comment says so. Packets that are
/// not RDMA are truncated.
[[nodiscard]] std::vector<std::uint8_t> pcapng_of(const Story& story);

}  // namespace anyrdma::recording
