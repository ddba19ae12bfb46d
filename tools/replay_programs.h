// `anyrdma replay` of unmodified programs: of a scenario file, or of a bundle.
#pragma once

#include "tools/exit.h"
#include "tools/explore.h"

namespace anyrdma::tools {

/// Runs the trial of a scenario file. Exit statuses: as simulate().
[[nodiscard]] Exit replay_programs(const ReplayCommand& command);
/// Runs the trial of a bundle, whose file is the command's scenario, after sentences about what is
/// different on this machine. Exit statuses: as simulate().
[[nodiscard]] Exit replay_bundle(const ReplayCommand& command);

}  // namespace anyrdma::tools
