// `anyrdma check`: judges recordings.
#pragma once

#include <string>
#include <vector>

namespace anyrdma::tools {

/// Prints the findings of all checkers, a line each, and what could not be judged. One recording of
/// a simulated run, or those of processes in real time; a directory is all that end with .recording
/// in it. 0: none; 1: there are findings; 2: a recording cannot be read, which has been said.
[[nodiscard]] int check(const std::vector<std::string>& paths);

}  // namespace anyrdma::tools
