// Looks for a seed, a plan of few faults and an order of the ready work with which a scenario goes
// wrong.
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

/// Makes a world with the trial's seed and options, injects its plan, starts programs, and gives
/// finish(world) back, perhaps with a problem of its own. Same trial, same outcome. Programs must
/// survive what the plan does, and the end of the world (EDEADLK) where they wait then.
using Scenario = std::function<Outcome(const Trial&)>;

/// Runs the world until nothing is left that could happen. A fiber that still waits is the problem:
/// World::stuck_report. Steps need Tracing::kKeep.
[[nodiscard]] Outcome finish(World& world);

/// What became of it so far, without a problem.
[[nodiscard]] Outcome outcome_of(const World& world);

/// Ends the faults, and what they have done to the network and its hosts: every path passes, every
/// port is active, every host runs. Removed devices stay away. Outside of fibers and critical
/// sections.
void heal(World& world);

/// A trial that goes wrong.
struct Failure {
  Trial trial;
  Outcome outcome;
  std::size_t faults_found = 0;  ///< in the plan before it was shrunk
  std::string command{};         ///< what to type to have it again; empty: nobody said

  /// Seed, plan, trace hash, problem and command, for people.
  [[nodiscard]] std::string to_string() const;
  /// A GoogleTest that repeats it; `scenario` is the C++ name of the function that was explored.
  [[nodiscard]] std::string to_test(std::string_view scenario) const;
};

/// In how many runs a situation was looked for, and in how many it was there: see findings.h.
struct Sighting {
  std::uint64_t looked = 0;
  std::uint64_t seen = 0;
  bool operator==(const Sighting&) const = default;
};

/// Where a run stands in the order of all runs of an exploration, however they are divided: 0; or
/// how many faults were placed, and each one's number; or a greater number, and the seed's.
using RunPlace = std::vector<std::uint64_t>;

/// All failures whose problems begin alike but for numbers.
struct FailureKind {
  std::uint64_t runs = 0;
  Failure first;     ///< shrunk
  RunPlace place{};  ///< of the first
};

/// What a search has found, and what it has tried.
struct Exploration {
  std::uint64_t runs = 0;          ///< those for shrinking not counted
  std::optional<Failure> failure;  ///< the first, shrunk; the search ended with it
  /// In how many runs each fault of the menu, and each of the scenario's own, fired, by its text: a
  /// fault that never did has tested nothing. Those of a run that died count as if they had.
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

/// Beyond so many, people do not wait for a smaller trial.
inline constexpr std::uint64_t kShrinkRunsMax = 100'000;

/// What explore() tries, and for how long.
struct ExploreOptions {
  // --- runs by chance: one per seed
  // ---------------------------------------------------------------
  std::uint64_t first_seed = 1;
  std::uint64_t runs = 1000;
  /// What can be drawn. Every run leaves about half of the kinds of actions out, so that rare
  /// combinations of the others come up (swarm testing).
  std::vector<Fault> menu{};
  std::size_t faults_max = 4;  ///< per run
  /// Each run takes one of them, by chance; none: fifo.
  std::vector<Schedule> schedules{};
  /// The same of what memory promises; none: strict.
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
  std::vector<std::string> expected{};  ///< situations that are in the result even if nobody looked
  bool keep_going = false;              ///< after a failure; collects their kinds
  /// A failure is one whose problem contains this; others are counted, see Exploration::others.
  std::string only{};
  /// Ends the search, and the shrinking of what it has found, when so much real time has passed;
  /// zero: never. With keep_going, shrinking may take a fourth of it for each kind of failure.
  std::chrono::nanoseconds budget{};
  /// Forked processes, up to one per core; the result does not depend on their number, and a crash
  /// is a failure like any other. 0: all in this process. The caller must have no other threads.
  unsigned jobs = 0;
  /// With jobs: how much of a processor's time one run may take. One that takes more computes for
  /// ever, and is a failure like any other.
  std::chrono::nanoseconds patience = std::chrono::seconds(10);
  /// Asked now and then, also while a run is under way in another process: true ends the search,
  /// and the shrinking of a failure, with what has been found by then. Empty: nobody asks.
  std::function<bool()> interrupted{};
  std::uint64_t shrink_runs_max = kShrinkRunsMax;  ///< for each kind of failure
  bool progress = false;                           ///< on stderr: how far it is, and what fails
  /// Of the runs, only every `shards`-th from `shard` on. With branching or feedback each shard
  /// learns from its own.
  std::uint64_t shards = 1;
  std::uint64_t shard = 0;
  /// What repeats a failure when the trial, quoted for the shell, is put behind it:
  /// "anyrdma replay connect". Empty: the test that runs here, by $ANYRDMA_TRIAL.
  std::string command{};
};

/// Runs the scenario until it goes wrong; shrinks the failure. The first trials run twice: see
/// Exploration::differs; when only the second run goes wrong, that is the failure. The trial in
/// $ANYRDMA_TRIAL (see trial.h), if there is one, is the only run. Same options, same result, but
/// for the budget.
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

/// How far shrinking goes, and who hears of it.
struct ShrinkOptions {
  std::uint64_t runs_max = kShrinkRunsMax;
  /// Asked before and after each run: true ends it, and the run counts for nothing. Empty: nobody
  /// asks.
  std::function<bool()> stop{};
  /// Is told the smallest trial so far, and how many runs were needed. Empty: nobody.
  std::function<void(const Trial&, std::uint64_t)> tell{};
};

/// Makes a trial that goes wrong as small as it gets while it still goes wrong in the same way (the
/// problem begins alike but for numbers): faults are left out (delta debugging), what chance chose
/// for a fault becomes data, choices of the schedule become fifo again, parameters go down. Without
/// any one of its faults or choices the result does not go wrong so; unless more than `runs_max`
/// runs had been needed for that. A trial that goes well is given back as it is.
[[nodiscard]] Trial shrink(const Scenario& scenario, const Trial& trial,
                           const ShrinkOptions& options = {});

// --- parts of explore() by name
// -------------------------------------------------------------------

/// What explore_samples() draws from, and how often.
struct SampleOptions {
  std::uint64_t first_seed = 1;
  std::uint64_t runs = 1000;
  std::vector<Fault> menu{};
  std::size_t faults_max = 4;
};
/// Only the runs by chance.
[[nodiscard]] Exploration explore_samples(const Scenario& scenario, const SampleOptions& options);

/// Which faults explore_steps() places, and how many of them in one run.
struct StepOptions {
  std::uint64_t seed = 1;
  std::vector<FaultAction> actions{};
  std::size_t faults_max = 1;
  std::uint64_t runs_max = 10'000;
};
/// Only the placements.
[[nodiscard]] Exploration explore_steps(const Scenario& scenario, const StepOptions& options);

}  // namespace anyrdma::sim
