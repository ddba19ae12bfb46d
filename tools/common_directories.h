// The directories that the simulated hosts of a scenario have in common.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tools/program_scenario.h"

namespace anyrdma::tools {

/// Returns the directories that a scenario shares or keeps, and those directly below /dev/shm that
/// its file, commands, environment and directory name: pairs of a directory of the machine (empty:
/// of the run) and the path at which programs see it.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> common_directories(
    const ProgramScenario& scenario);

}  // namespace anyrdma::tools
