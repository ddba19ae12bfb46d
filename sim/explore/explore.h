// Searches for a seed, a plan of few faults and a schedule with which a scenario fails.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/explore/trial.h"
#include "sim/findings.h"

namespace anyrdma::sim {

class World;

/// A scenario creates a world with the trial's seed and options, injects its plan, starts programs,
/// and returns finish(world), perhaps with a problem of its own. The same trial must have the same
/// outcome. Programs must tolerate the plan's faults, and EDEADLK in waits at the end of the world.
using Scenario = std::function<Outcome(const Trial&)>;

/// Runs the world until nothing can happen any more. A fiber that still waits is the problem:
/// World::stuck_report. Steps need Tracing::kKeep.
[[nodiscard]] Outcome finish(World& world);

/// The outcome of the world so far, without a problem.
[[nodiscard]] Outcome outcome_of(const World& world);

/// Ends the faults and undoes their effects on the network and its hosts: every path works, every
/// port is active, every host runs. Removed devices stay removed. Call it outside of fibers and
/// critical sections.
void heal(World& world);

/// A trial that goes wrong.
struct Failure {
  Trial trial;
  Outcome outcome;
  std::size_t faults_found = 0;  ///< in the plan before it was shrunk
  std::string command{};         ///< the command that reproduces it; empty: unknown

  /// Seed, plan, trace hash, problem and command, for people.
  [[nodiscard]] std::string to_string() const;
  /// A GoogleTest that repeats it; `scenario` is the C++ name of the function that was explored.
  [[nodiscard]] std::string to_test(std::string_view scenario) const;
};

/// The number of runs in which a situation was reported on, and in which it occurred: see
/// findings.h.
struct Sighting {
  std::uint64_t looked = 0;
  std::uint64_t seen = 0;
  bool operator==(const Sighting&) const = default;
};

/// The position of a run in the order of all runs of an exploration, independent of shards: 0; or
/// the number of placed faults and each one's number; or a greater number, and the seed's.
using RunPlace = std::vector<std::uint64_t>;

/// All failures whose problems begin alike but for numbers.
struct FailureKind {
  std::uint64_t runs = 0;
  Failure first;     ///< shrunk
  RunPlace place{};  ///< of the first
};

/// The result of a search: the failure that it found, and the runs that it made.
struct Exploration {
  std::uint64_t runs = 0;          ///< those for shrinking not counted
  std::optional<Failure> failure;  ///< the first, shrunk; the search ended with it
  /// In how many runs each fault of the menu and of the scenario fired, by its text. A fault that
  /// never fired has tested nothing. In a run whose process died, all its faults count as fired.
  std::map<std::string, std::uint64_t> fired{};
  std::map<std::string, Sighting> situations{};
  std::map<std::string, FailureKind> kinds{};  ///< more than the first with keep_going
  /// Kinds of failures that do not say what ExploreOptions::only wants, and in how many runs.
  std::map<std::string, std::uint64_t> others{};
  bool out_of_time = false;    ///< the budget ended it
  bool interrupted = false;    ///< ExploreOptions::interrupted did
  std::uint64_t bits = 0;      ///< of coverage; 0 without branching and feedback
  std::uint64_t last_new = 0;  ///< the run, from 1, that came to the last of them
  std::string differs{};  ///< sentences about a trial whose second run was another; empty: none

  /// The situations that never occurred.
  [[nodiscard]] std::vector<std::string> never_seen() const;
  /// One line: runs, and what never fired.
  [[nodiscard]] std::string to_string() const;
  /// A line per situation: "in 12 of 300 runs: late UNREACHABLE seen".
  [[nodiscard]] std::string sightings() const;
  /// A line for each kind in `others`.
  [[nodiscard]] std::string other_failures() const;
};

/// The limit of runs of one shrinking.
inline constexpr std::uint64_t kShrinkRunsMax = 100'000;

/// The search space of explore(), and its limits.
struct ExploreOptions {
  // --- runs by chance: one per seed
  // ---------------------------------------------------------------
  std::uint64_t first_seed = 1;
  std::uint64_t runs = 1000;
  /// The fault space: candidate faults. Every run leaves out about half of the kinds (of trigger
  /// and action), so that rare combinations of the others come up (swarm testing). A fault is drawn
  /// by its kind first: a kind of many lines is as likely as one of few.
  std::vector<Fault> menu{};
  std::size_t faults_max = 4;  ///< per run
  /// When something happens in a run without faults, ascending. Half of the instants that the menu
  /// leaves open come right before or after one of these: what a program does may be over in a
  /// thousandth of its time.
  std::vector<verbs::Duration> moments{};
  /// Each run takes one of them, by chance; none: fifo.
  std::vector<Schedule> schedules{};
  /// Memory profiles from which each run takes one; empty: strict.
  std::vector<MemoryProfile> memories{};
  /// Some runs repeat an earlier one up to where something rare happened, and go on with other
  /// seeds from there; and changes of priorities come near such places.
  bool branching = false;
  /// Some runs are changed ones of earlier ones that came to something new.
  bool feedback = false;

  // --- before these: every placement
  // --------------------------------------------------------------
  /// What to place before everything that happens at each instant of the first seed's run: "remove
  /// the device at every step". Those that need no message or request.
  std::vector<FaultAction> placed{};
  /// In one run; those with fewer come first. Costs (steps * actions) to that power.
  std::size_t placed_max = 1;
  std::uint64_t placed_runs_max = 10'000;

  // --- how
  // ----------------------------------------------------------------------------------------
  std::vector<Parameter> workload{};    ///< of every run; made smaller only to shrink a failure
  std::vector<std::string> expected{};  ///< situations to report even if never seen
  bool keep_going = false;              ///< after a failure; collects their kinds
  /// A failure is one whose problem contains this; others are counted, see Exploration::others.
  std::string only{};
  /// Ends the search, and the shrinking of what it has found, when so much real time has passed;
  /// zero: never. With keep_going, shrinking may take a fourth of it for each kind of failure.
  std::chrono::nanoseconds budget{};
  /// Forked processes, up to one per core; the result does not depend on their number, and a crash
  /// is a failure like any other. 0: all in this process. The caller must have no other threads.
  unsigned jobs = 0;
  /// With jobs: the limit of CPU time of one run. A run that takes more counts as endless, and is a
  /// failure like any other.
  std::chrono::nanoseconds patience = std::chrono::seconds(10);
  /// Called now and then, also while a run is under way in another process. True ends the search,
  /// and the shrinking of a failure, with the results so far. May be empty.
  std::function<bool()> interrupted{};
  std::uint64_t shrink_runs_max = kShrinkRunsMax;  ///< for each kind of failure
  bool progress = false;                           ///< on stderr: how far it is, and what fails
  /// Of the runs, only every `shards`-th from `shard` on. With branching or feedback each shard
  /// learns from its own.
  std::uint64_t shards = 1;
  std::uint64_t shard = 0;
  /// The command that reproduces a failure if the quoted trial is appended: "anyrdma replay
  /// connect". Empty: the running test, by $ANYRDMA_TRIAL.
  std::string command{};
};

/// Runs the scenario until it fails, and shrinks the failure. The first trials run twice: see
/// Exploration::differs; if only the second run fails, that is the failure. If $ANYRDMA_TRIAL has a
/// trial (trial.h), it is the only run. Except for the budget, the same options give the same
/// result.
[[nodiscard]] Exploration explore(const ExploreOptions& options, const Scenario& scenario);

/// The options for this process of a test that Bazel has sharded (TEST_TOTAL_SHARDS) or repeated
/// (TEST_RUN_NUMBER of --runs_per_test): every shard has a part of the seeds, every repetition
/// others. As a side effect Bazel is told that the test knows of shards. GoogleTest, too, would
/// divide its tests: link //sim/testing:sharded.
[[nodiscard]] ExploreOptions for_this_shard(ExploreOptions options);

/// Runs a scenario in a process of its own, so that a crash is an outcome. `patience`: as in
/// ExploreOptions. `stop`: as ExploreOptions::interrupted; the outcome is empty then.
[[nodiscard]] Outcome run_apart(const Scenario& scenario, const Trial& trial,
                                std::chrono::nanoseconds patience,
                                const std::function<bool()>& stop = {});

/// Limits and callbacks of shrinking.
struct ShrinkOptions {
  std::uint64_t runs_max = kShrinkRunsMax;
  /// Called before and after each run: true ends shrinking, and drops the run. May be empty.
  std::function<bool()> stop{};
  /// Called with the smallest trial so far and the number of runs. May be empty.
  std::function<void(const Trial&, std::uint64_t)> tell{};
};

/// Makes a failing trial as small as possible while it still fails in the same way: the problem
/// begins alike except for numbers. Leaves out faults (delta debugging), replaces random
/// occurrences of a fault by numbers, turns choices of the schedule back to fifo, reduces
/// parameters. Without any one of its faults or choices the result does not fail so, unless that
/// would have needed more than `runs_max` runs. A trial that passes is returned unchanged.
[[nodiscard]] Trial shrink(const Scenario& scenario, const Trial& trial,
                           const ShrinkOptions& options = {});

// --- parts of explore() by name
// -------------------------------------------------------------------

/// The fault space of explore_samples(), and the number of runs.
struct SampleOptions {
  std::uint64_t first_seed = 1;
  std::uint64_t runs = 1000;
  std::vector<Fault> menu{};
  std::size_t faults_max = 4;
};
/// Only the runs by chance.
[[nodiscard]] Exploration explore_samples(const Scenario& scenario, const SampleOptions& options);

/// The faults that explore_steps() places, and how many of them in one run.
struct StepOptions {
  std::uint64_t seed = 1;
  std::vector<FaultAction> actions{};
  std::size_t faults_max = 1;
  std::uint64_t runs_max = 10'000;
};
/// Only the placements.
[[nodiscard]] Exploration explore_steps(const Scenario& scenario, const StepOptions& options);

}  // namespace anyrdma::sim
