// The `verify` lines of a scenario file: what a run leaves for their commands, and what these say.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/machines/verify.h"
#include "tools/output_files.h"
#include "tools/program_scenario.h"

namespace anyrdma::tools {

/// Of one run. The directory has HOST.PROGRAM.out and .err of each program, `statuses`, `trial`,
/// `problem` (what is known already) and `recording`; it is removed at the end.
class Verification {
 public:
  /// In `parent`; empty: among temporary files. `scenario` outlives it. nullopt: it cannot be,
  /// which has been said.
  [[nodiscard]] static std::optional<Verification> create(const ProgramScenario& scenario,
                                                          const std::filesystem::path& parent);

  /// Where the run is to be recorded.
  [[nodiscard]] std::string recording() const { return (place_.path() / "recording").string(); }
  /// The run is recorded there instead.
  void use_recording(const std::string& path);
  [[nodiscard]] OutputFiles& output() { return output_; }
  /// Runs the commands, in the file's order, when the run is over and its recording complete.
  /// Their problems, lines; empty: all have ended with status 0.
  [[nodiscard]] std::string run(std::string_view statuses, std::string_view trial,
                                std::string_view problem, const std::function<bool()>& interrupted);

 private:
  Verification(const ProgramScenario& scenario, sim::VerifyPlace place, OutputFiles output)
      : scenario_(&scenario), place_(std::move(place)), output_(std::move(output)) {}

  const ProgramScenario* scenario_;
  sim::VerifyPlace place_;
  OutputFiles output_;
  std::vector<std::vector<std::string>> commands_;
};

/// A path beside the scenario's file, where there is one; else the command's own.
[[nodiscard]] std::string path_beside(const std::string& file, const std::string& word);

}  // namespace anyrdma::tools
