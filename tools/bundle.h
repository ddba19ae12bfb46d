// `anyrdma replay --bundle FILE` and `anyrdma replay FILE`: one archive with a scenario, its trial,
// its programs, the recording and the page of the run.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "sim/machines/run_directory.h"
#include "tools/bundle/manifest.h"
#include "tools/program_scenario.h"

namespace anyrdma::tools {

/// The content of a bundle.
struct BundledRun {
  const ProgramScenario& scenario;
  std::string trial;
  std::uint64_t hash = 0;
  std::set<std::string> libraries{};  ///< files that the programs had mapped as code
  std::string recording{};            ///< a file
};

/// Writes a bundle. Returns why it cannot, a sentence; empty: it was written.
[[nodiscard]] std::string write_bundle(const std::string& path, const BundledRun& run);

/// A bundle that is unpacked, until the object is destroyed.
class OpenBundle {
 public:
  /// Null: it is not usable; an error message was printed.
  [[nodiscard]] static std::unique_ptr<OpenBundle> open(const std::string& path);

  [[nodiscard]] const Manifest& manifest() const { return manifest_; }
  /// The scenario's file.
  [[nodiscard]] std::string scenario() const;
  /// The file that programs read as their stdin; empty: none.
  [[nodiscard]] std::string input() const;
  /// The file of each program, by the word that the scenario has for it: this machine's if it is
  /// the same, else the bundle's copy.
  [[nodiscard]] std::map<std::string, std::string> programs() const;
  /// Sentences about what is different on this machine, or missing.
  [[nodiscard]] std::vector<std::string> differences() const;

 private:
  OpenBundle() = default;
  [[nodiscard]] std::string place_of(const std::string& name) const;

  const sim::RunDirectory directory_{sim::Storage::kDisk};
  Manifest manifest_;
};

}  // namespace anyrdma::tools
