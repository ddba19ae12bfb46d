// What code that is being explored says of its run: rare situations it met, and what went wrong.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/coverage.h"

namespace anyrdma::sim {

/// Notes whether a rare situation has occurred: sometimes("late UNREACHABLE seen", late). Once true
/// is enough for the run. A sweep tells in how many runs it was, and names those that never were:
/// what they test was not tested. Outside of an exploration it does nothing.
void sometimes(std::string_view situation, bool occurred);

/// Adds a line to what went wrong in the run under exploration. False: there is none, and it was
/// not noted. For checkers and for programs of scenarios.
bool complain(std::string_view problem);

/// Whether this thread's run is under exploration.
[[nodiscard]] bool being_explored();

/// Of this thread's run under exploration; null: nobody wants it.
[[nodiscard]] Coverage* coverage_of_run();

/// Collects all of these while it lives, in this thread; explorations make one per run. They do not
/// nest.
class Findings {
 public:
  /// `covers`: coverage is wanted, too.
  explicit Findings(bool covers = false);
  ~Findings();
  Findings(const Findings&) = delete;
  Findings& operator=(const Findings&) = delete;

  [[nodiscard]] const std::map<std::string, bool>& situations() const { return situations_; }
  /// Lines, each with its newline.
  [[nodiscard]] const std::string& problems() const { return problems_; }
  /// Empty unless coverage is wanted.
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
