// The options of the subcommands that simulate: sim, explore, replay, explain and merge.
#pragma once

#include <string>

#include "tools/explain.h"
#include "tools/explore.h"
#include "tools/report.h"
#include "tools/sim.h"

namespace CLI {
class App;
}

namespace anyrdma::tools {

/// Adds the options of a subcommand, whose values `command` gets. `command` must outlive the app.
void describe(CLI::App& sim, SimOptions& command);
void describe(CLI::App& explore, ExploreCommand& command);
void describe(CLI::App& replay, ReplayCommand& command);
void describe(CLI::App& explain, ExplainCommand& command);
void describe(CLI::App& merge, MergeCommand& command);

/// Returns why a word is no number, for CLI11; empty: it is one. Refuses a sign, because CLI11
/// turns -1 into the largest number.
[[nodiscard]] std::string problem_of_number(const std::string& text);

}  // namespace anyrdma::tools
