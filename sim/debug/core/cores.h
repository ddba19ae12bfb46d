// Core files of all programs of a run at one moment of virtual time, for `gdb PROGRAM CORE`.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "verbs/why_not.h"

namespace anyrdma::sim::programs {
class Sandbox;
}

namespace anyrdma::sim::debug {

struct Core {
  std::filesystem::path program{};  ///< the file that the process executes
  std::filesystem::path path{};     ///< of the core file
};

/// Writes HOST-PROGRAM-PID.core for each process that lives, where PID is the number that the
/// program knows. The directory exists. gdb begins in `thread`, such as "server/rping/2", if a
/// process has such a thread, else in the first one. Changes nothing that a program sees. Call it
/// while no program runs. The error is a sentence for the user.
[[nodiscard]] verbs::OrWhyNot<std::vector<Core>> write_cores(const programs::Sandbox& sandbox,
                                                             const std::filesystem::path& directory,
                                                             std::string_view thread);

/// Adds the paths of the files that living processes have mapped as code.
void add_code_files(const programs::Sandbox& sandbox, std::set<std::string>& files);

}  // namespace anyrdma::sim::debug
