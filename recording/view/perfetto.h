// Converts a recording to a trace for Perfetto's user interface.
#pragma once

#include <cstdint>
#include <vector>

#include "recording/view/story.h"

namespace anyrdma::recording {

/// Returns a TrackEvent protobuf. Each lane (timeline row) is a track. States and waits are slices,
/// other records are instants. A flow leads from each message to its arrival, and from each event
/// to its fetching.
[[nodiscard]] std::vector<std::uint8_t> perfetto_of(const Story& story);

}  // namespace anyrdma::recording
