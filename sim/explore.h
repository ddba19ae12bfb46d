// Looks for a seed and a plan of few faults with which a scenario goes wrong.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/fault_plan.h"
#include "sim/faults.h"
#include "verbs/time.h"

namespace anyrdma::sim {

class World;

/// All that decides a run.
struct Trial {
  std::uint64_t seed = 1;
  FaultPlan plan{};
};

/// What became of it.
struct Outcome {
  std::string problem{};  ///< empty: all is well
  std::uint64_t trace_hash = 0;
  std::vector<verbs::Duration> steps{};  ///< the instants at which something happened, in order
  std::vector<FaultStatus> faults{};
};

/// Makes a world with the trial's seed, injects its plan, starts programs, and gives finish(world)
/// back, perhaps with a problem of its own. Same trial, same outcome. Programs must survive what
/// the plan does, and the end of the world (EDEADLK) where they wait then.
using Scenario = std::function<Outcome(const Trial&)>;

/// Runs the world until nothing is left that could happen. A fiber that still waits is the problem:
/// World::stuck_report. Steps need Tracing::kKeep.
[[nodiscard]] Outcome finish(World& world);

/// Ends what faults have done to the network: every path passes, every port is active. Removed
/// devices stay away. Outside of fibers and critical sections.
void heal(World& world);

/// A trial that goes wrong.
struct Failure {
  Trial trial;
  Outcome outcome;
  std::size_t faults_found = 0;  ///< in the plan before it was shrunk

  /// Seed, plan, trace hash and problem, for people.
  [[nodiscard]] std::string to_string() const;
  /// A GoogleTest that repeats it; `scenario` is the C++ name of the function that was explored.
  [[nodiscard]] std::string to_test(std::string_view scenario) const;
};

struct Exploration {
  std::uint64_t runs = 0;          ///< those for shrinking not counted
  std::optional<Failure> failure;  ///< the first, shrunk; the search ended with it
  /// In how many runs each fault fired, by its text: a fault that never did has tested nothing.
  std::map<std::string, std::uint64_t> fired;

  /// One line: runs, and what never fired.
  [[nodiscard]] std::string to_string() const;
};

struct SampleOptions {
  std::uint64_t first_seed = 1;
  std::uint64_t runs = 1000;
  /// What can be drawn. Every run leaves about half of the kinds of actions out, so that rare
  /// combinations of the others come up (swarm testing).
  std::vector<Fault> menu{};
  std::size_t faults_max = 4;  ///< per run
};
/// One run per seed, each with its own draw from the menu.
[[nodiscard]] Exploration explore_samples(const Scenario& scenario, const SampleOptions& options);

struct StepOptions {
  std::uint64_t seed = 1;
  /// What to place; those that need no message or request.
  std::vector<FaultAction> actions{};
  std::size_t faults_max = 1;  ///< in one run; costs (steps * actions) to that power
  std::uint64_t runs_max = 10'000;
};
/// Places the actions, up to `faults_max` in one run, before everything that happens at each
/// instant of the run: "remove the device at every step".
[[nodiscard]] Exploration explore_steps(const Scenario& scenario, const StepOptions& options);

/// Leaves faults out of a plan that goes wrong for as long as it still does (delta debugging). What
/// goes wrong may change on the way. The result goes wrong, and without any one of its faults it
/// does not.
[[nodiscard]] FaultPlan shrink(const Scenario& scenario, const Trial& trial);

}  // namespace anyrdma::sim
