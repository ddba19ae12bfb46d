// execve(2): what a program on a simulated host finds in its environment, whatever its parent gives
// it. A host has its device for each program, as a real one has.
#pragma once

#include <string>
#include <vector>

#include "sim/programs/process/thread.h"

namespace anyrdma::sim::programs {

/// `environment` with each entry of `kept` (NAME=value). Where the value is a list, separated by
/// colons (LD_PRELOAD, LD_LIBRARY_PATH, ASAN_OPTIONS), the kept entries come first, and the given
/// ones after them. Of other variables a given value remains.
[[nodiscard]] std::vector<std::string> with_kept(std::vector<std::string> environment,
                                                 const std::vector<std::string>& kept);

/// execve and execveat.
[[nodiscard]] Outcome on_execve(Thread& thread, const Call& call);

}  // namespace anyrdma::sim::programs
