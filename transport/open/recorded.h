// An opened transport whose process records what happens (docs/recording.md).
#pragma once

#include <memory>

#include "transport/open/opened.h"
#include "transport/open/process_recorder.h"
#include "transport/open/watchable.h"

namespace anyrdma::transport {

/// Returns `below`, observed by the recorder. `watchable` is part of it, or null. Its earlier
/// observers are called after the recorder.
[[nodiscard]] std::unique_ptr<Opened> with_recorder(std::unique_ptr<Opened> below,
                                                    Watchable* watchable,
                                                    std::unique_ptr<ProcessRecorder> recorder);

}  // namespace anyrdma::transport
