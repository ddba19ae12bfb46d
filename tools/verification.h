// Runs the commands of the `verify` lines of a scenario file, which judge a run by the files that
// it has written.
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
  /// Creates the directory in `parent`; if that is empty, in the directory for temporary files.
  /// `scenario` must outlive the object. nullopt: it cannot be created; an error message was
  /// printed.
  [[nodiscard]] static std::optional<Verification> create(const ProgramScenario& scenario,
                                                          const std::filesystem::path& parent);

  /// Where the run is to be recorded.
  [[nodiscard]] std::string recording() const { return (place_.path() / "recording").string(); }
  /// The run is recorded there instead.
  void use_recording(const std::string& path);
  [[nodiscard]] OutputFiles& output() { return output_; }
  /// Runs the commands in the order of the file. Call it when the run has ended and its recording
  /// is complete. Returns the problems as lines; empty: all commands ended with status 0.
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

/// Returns the path of a command beside the scenario's file if it exists there; else the command
/// unchanged.
[[nodiscard]] std::string path_beside(const std::string& file, const std::string& word);
/// Returns the file that the first word of a program's command names.
[[nodiscard]] std::string program_path(const ProgramScenario& scenario, const std::string& word);

}  // namespace anyrdma::tools
