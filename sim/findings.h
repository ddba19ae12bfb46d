// Reports of explored code about its run: rare situations, and problems.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/coverage.h"

namespace anyrdma::sim {

/// Reports whether a rare situation has occurred in this run: sometimes("late UNREACHABLE seen",
/// late). One call with true is enough. An exploration counts the runs in which the situation
/// occurred, and lists situations that never occurred, because code for them was not tested. No
/// effect outside of an exploration.
void sometimes(std::string_view situation, bool occurred);

/// Adds a problem to the current run of an exploration; for checkers and for programs of scenarios.
/// Returns false, without effect, outside of an exploration.
bool complain(std::string_view problem);

/// Whether this thread's run is under exploration.
[[nodiscard]] bool being_explored();

/// Returns the coverage of the run that an exploration performs in this thread. Null: no coverage
/// is collected.
[[nodiscard]] Coverage* coverage_of_run();

/// Collects the reports of sometimes() and complain() in this thread while the object exists. An
/// exploration creates one for each run. Objects must not be nested.
class Findings {
 public:
  /// `covers`: collects coverage, too.
  explicit Findings(bool covers = false);
  ~Findings();
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;

  [[nodiscard]] const std::map<std::string, bool>& situations() const { return situations_; }
  /// Lines, each with its newline.
  [[nodiscard]] const std::string& problems() const { return problems_; }
  /// Empty unless coverage is collected.
  [[nodiscard]] std::vector<Reached> reached() const;

 private:
  friend void sometimes(std::string_view situation, bool occurred);
  friend bool complain(std::string_view problem);
  friend Coverage* coverage_of_run();

  std::map<std::string, bool> situations_;
  std::string problems_;
  std::unique_ptr<Coverage> coverage_;
};

}  // namespace anyrdma::sim
