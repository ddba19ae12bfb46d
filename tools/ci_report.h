// Reports of sim and explore for those who did not see the run: a JUnit file, which CI systems
// read, and the Markdown summary of a GitHub job.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace anyrdma::tools {

/// A failure, or each of several failures of one kind.
struct ReportedFailure {
  std::string name;                   ///< what tells it from others of the scenario
  std::string problem;                ///< lines, with stacks
  std::vector<std::string> faults{};  ///< that happened, a line each
  std::string again{};                ///< the command that repeats it; empty: unknown
  std::string debug{};                ///< the command that opens gdb there; empty: none does
  std::string recording{};            ///< a file; empty: there is none
};

/// The result of one scenario.
struct ScenarioReport {
  std::string command;     ///< "anyrdma explore"
  std::string scenario;    ///< its file or name
  std::string sentence{};  ///< what was done: "34 runs"
  double seconds = 0;      ///< of real time
  std::vector<ReportedFailure> failures{};
};

/// Returns the reports as a JUnit file: a suite for each scenario, a case for each failure, and one
/// case for a scenario without failures. Characters that XML does not allow become U+FFFD.
[[nodiscard]] std::string junit_of(std::span<const ScenarioReport> reports);
/// Returns a report in Markdown: the verdict, and for each failure its problem, faults, commands
/// and files.
[[nodiscard]] std::string summary_of(const ScenarioReport& report);

/// Where reports go.
class CiReports {
 public:
  /// `junit`: a file, which is created or emptied now; empty: none. `summary`: a file to append to;
  /// empty: none.
  CiReports(std::string junit, std::string summary);
  /// As above, with the summary file that the environment variable GITHUB_STEP_SUMMARY names.
  explicit CiReports(std::string junit);
  /// Whether the JUnit file can be written; if not, an error message was printed.
  [[nodiscard]] bool usable() const { return usable_; }
  /// Whether a report is wanted.
  [[nodiscard]] bool wanted() const { return !junit_.empty() || !summary_.empty(); }
  /// Takes a report, and writes both files. Returns false after an error message.
  [[nodiscard]] bool add(ScenarioReport report);

 private:
  std::string junit_;
  std::string summary_;
  bool usable_ = true;
  std::vector<ScenarioReport> reports_;
};

}  // namespace anyrdma::tools
