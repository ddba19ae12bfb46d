// One recording out of those that processes have written in real time, each its own.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "recording/sink.h"
#include "recording/view/process_file.h"

namespace anyrdma::recording {

/// What merging has found.
struct Merged {
  std::size_t joined = 0;  ///< so many messages were seen by who sent them and who got them
  bool exact = true;       ///< all clocks are one machine's, since it was started
  std::string problem{};   ///< a sentence without its end: why nothing was written; empty: it was
};

/// Writes it. What a process sent to another one of them arrives there; what nobody saw arriving,
/// or leaving, stays as it is.
[[nodiscard]] Merged merge(std::vector<ProcessFile> files, std::shared_ptr<Sink> sink);

}  // namespace anyrdma::recording
