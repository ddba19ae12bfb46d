// Writes the output of programs to files: one for the stdout and one for the stderr of each
// program.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "sim/programs/supervisor/sandbox.h"

namespace anyrdma::tools {

/// The output files in a directory: HOST.PROGRAM.out and HOST.PROGRAM.err, and HOST.PROGRAM.2.out
/// for a second program of that name on the host.
class OutputFiles {
 public:
  /// Creates the directory if it does not exist. `times`: the virtual time precedes each line.
  /// nullopt: the directory cannot be created; an error message was printed.
  [[nodiscard]] static std::optional<OutputFiles> create(const std::string& directory,
                                                         bool times = false);

  /// Creates the output files of a program, or empties existing ones. Returns false, after an error
  /// message, if that fails.
  [[nodiscard]] bool add(const sim::programs::Program& program);
  /// Writes a line of output. Precondition: add() was called for the program, or the program has no
  /// earlier output.
  void take(const sim::programs::OutputLine& line);
  /// Whether all has been written.
  [[nodiscard]] bool finish();

 private:
  using Key = std::pair<const sim::programs::Program*, bool>;  ///< whether it is stderr

  OutputFiles(std::filesystem::path directory, bool times)
      : directory_(std::move(directory)), times_(times) {}

  std::filesystem::path directory_;
  bool times_;
  std::map<std::string, unsigned> named_;  ///< so many programs
  std::map<Key, std::ofstream> files_;
};

}  // namespace anyrdma::tools
