// Whether programs have ended and said what they were to.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tools/program_scenario.h"

namespace anyrdma::tools {

/// What became of a program.
struct ProgramEnd {
  std::string_view name;        ///< "server/rping"
  unsigned number = 1;          ///< of its host's of that name
  std::optional<int> status{};  ///< as of wait(2); nullopt: it has not ended
  bool background = false;      ///< it was to serve until all others had ended
  bool told_to_end = false;     ///< by a SIGTERM of ours, as they had
  bool ended_by_plan = false;   ///< killed, or gone with its host
  std::string_view crash{};     ///< lines that say how and where it crashed
};

/// "was ended by signal 11".
[[nodiscard]] std::string end_text(const ProgramEnd& end);

/// Returns the first words of a sanitizer's report in a line of a program's output, without parts
/// that differ from run to run: "AddressSanitizer: heap-use-after-free". Empty: the line contains
/// no report.
[[nodiscard]] std::string sanitizer_report(std::string_view line);

/// The problem of a line that a program has written.
struct Said {
  std::string problem;     ///< one line without its end; empty: nothing
  bool is_report = false;  ///< of a sanitizer
};

/// One run's. Lines come before ends.
class Judgement {
 public:
  /// They outlive it.
  explicit Judgement(std::span<const Expectation> expectations) : expectations_(expectations) {}

  /// Examines a line of output of the `number`-th program named `program`. Each problem is returned
  /// only once.
  Said take(std::string_view program, unsigned number, std::string_view line);
  /// Adds the stacks of a program at the time at which it wrote a sanitizer's report.
  void explain_report(std::string_view program, std::string_view stacks);
  /// Whether the scenario allows a signal to end the program or a child process of it.
  [[nodiscard]] bool may_crash(std::string_view program, unsigned number) const;
  [[nodiscard]] bool ends_as_expected(const ProgramEnd& end) const;
  /// The lines of sanitizers that the file does not expect.
  [[nodiscard]] std::string reports() const;
  /// Returns a line for each program that has not ended as expected or has not printed an expected
  /// text.
  [[nodiscard]] std::string broken(std::span<const ProgramEnd> ends) const;

 private:
  [[nodiscard]] std::string statuses_of(const ProgramEnd& end) const;

  std::span<const Expectation> expectations_;
  std::set<std::size_t> said_;  ///< numbers of those whose text has come
  std::map<std::string, std::string, std::less<>> reports_;  ///< the first of each program
};

}  // namespace anyrdma::tools
