// Reports of explored code about its run: rare situations, and problems.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/coverage.h"

namespace anyrdma::sim {

/// Reports whether a rare situation has occurred: sometimes("late UNREACHABLE seen", late). One
/// true call is enough for the run. A search counts the runs in which it occurred, and lists the
/// situations that never did, whose tests tested nothing. No effect outside of an exploration.
void sometimes(std::string_view situation, bool occurred);

/// Adds a problem to the run under exploration. False: there is no exploration, and the call has no
/// effect. For checkers and for programs of scenarios.
bool complain(std::string_view problem);

/// Whether this thread's run is under exploration.
[[nodiscard]] bool being_explored();

/// The coverage of this thread's run under exploration; null: not collected.
[[nodiscard]] Coverage* coverage_of_run();

/// Collects these reports during its lifetime, in this thread; explorations create one per run.
/// They do not nest.
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
