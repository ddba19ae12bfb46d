// `--core`: core files of all programs at the moment at which a run first fails.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "sim/programs/supervisor/sandbox.h"

namespace anyrdma::tools {

class CoreFiles {
 public:
  /// Creates the directory if it does not exist. nullopt: it cannot be created; an error message
  /// was printed.
  [[nodiscard]] static std::optional<CoreFiles> create(const std::string& directory);

  /// The run fails now: writes the files, unless it has failed before. gdb begins in `thread`, if
  /// there is one of that name.
  void take_failure(const sim::programs::Sandbox& sandbox, std::string_view thread = {});
  /// Returns the command that opens each file, lines; else why there is none.
  [[nodiscard]] std::string lines() const;

 private:
  explicit CoreFiles(std::filesystem::path directory) : directory_(std::move(directory)) {}

  std::filesystem::path directory_;
  std::optional<std::string> lines_;  ///< nullopt: the run has not failed yet
};

}  // namespace anyrdma::tools
