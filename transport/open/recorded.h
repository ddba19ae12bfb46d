// Adds a recording (docs/recording.md) to an opened transport.
#pragma once

#include <memory>

#include "transport/open/opened.h"
#include "transport/open/process_recorder.h"
#include "transport/open/watchable.h"

namespace anyrdma::transport {

/// Returns `below`, observed by the recorder. `watchable` is part of `below`, or null. Observers
/// that `below` had before are called after the recorder.
[[nodiscard]] std::unique_ptr<Opened> with_recorder(std::unique_ptr<Opened> below,
                                                    Watchable* watchable,
                                                    std::unique_ptr<ProcessRecorder> recorder);

}  // namespace anyrdma::transport
