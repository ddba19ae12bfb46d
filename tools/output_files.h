// What programs say, in files: one for the stdout of each, and one for its stderr.
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "sim/programs/sandbox.h"

namespace anyrdma::tools {

/// HOST.PROGRAM.out and HOST.PROGRAM.err in a directory; HOST.PROGRAM.2.out for a host's second
/// program of that name.
class OutputFiles {
 public:
  /// Makes the directory if it is not there. nullopt: it cannot be, which has been said.
  [[nodiscard]] static std::optional<OutputFiles> create(const std::string& directory);

  /// Begins the files of a program, anew if they are there. False: it cannot, which has been said.
  [[nodiscard]] bool add(const sim::programs::Program& program);
  /// Precondition: it is of a program that was added, or of one that says nothing before.
  void take(const sim::programs::OutputLine& line);
  /// Whether all has been written.
  [[nodiscard]] bool finish();

 private:
  using Key = std::pair<const sim::programs::Program*, bool>;  ///< whether it is stderr

  explicit OutputFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  std::filesystem::path directory_;
  std::map<std::string, unsigned> named_;  ///< so many programs
  std::map<Key, std::ofstream> files_;
};

}  // namespace anyrdma::tools
