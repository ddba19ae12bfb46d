// A story as a trace for Perfetto's user interface.
#pragma once

#include <cstdint>
#include <vector>

#include "recording/view/story.h"

namespace anyrdma::recording {

/// TrackEvent protobuf: a track for each lane, slices for states and waits, instants for the rest,
/// and a flow from each message to its arrival and from each event to its fetching.
[[nodiscard]] std::vector<std::uint8_t> perfetto_of(const Story& story);

}  // namespace anyrdma::recording
