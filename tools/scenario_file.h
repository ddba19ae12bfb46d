// Scenario files, which people write by hand: `anyrdma help scenario`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/program_scenario.h"
#include "verbs/why_not.h"

namespace anyrdma::tools {

/// Parses one statement a line. docs/scenario-files.md is the reference. `name` is the file's name
/// for errors, which have the line's number too.
[[nodiscard]] verbs::OrWhyNot<ProgramScenario> parse_scenario(std::string_view name,
                                                              std::string_view text);

/// Reads and parses a file.
[[nodiscard]] verbs::OrWhyNot<ProgramScenario> read_scenario(const std::string& path);

/// The words that begin a line: "host", "on" and so on.
[[nodiscard]] std::vector<std::string_view> statement_words();

/// Sets the limit of virtual time from the word behind "limit". False: the word is no time.
[[nodiscard]] bool take_limit(std::string_view word, ProgramScenario& scenario);
/// Sets the limit of CPU time from the word behind "patience". False: the word is no time.
[[nodiscard]] bool take_patience(std::string_view word, ProgramScenario& scenario);
/// Adds a directory that is not each host's own. `what`: "share" or "keep"; `rest`: its path.
/// Returns what is wrong with it; empty: nothing.
[[nodiscard]] std::string take_common(const std::string& what, std::string_view rest,
                                      ProgramScenario& scenario);
/// Sets the number of huge pages of each host. Returns what is wrong with it; empty: nothing.
[[nodiscard]] std::string take_huge_pages(std::string_view rest, ProgramScenario& scenario);

}  // namespace anyrdma::tools
