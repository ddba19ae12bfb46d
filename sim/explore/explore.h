// Searches for a seed, a list of few faults and a schedule (an order of concurrent work) with which
// a test scenario fails.
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

/// The function that explore() runs again and again. A scenario creates a World with the seed and
/// options of its trial (the inputs of one run), and injects the trial's faults. Then it starts its
/// programs and returns finish(world), perhaps with a problem of its own. The same trial must give
/// the same outcome. The programs must tolerate the injected faults, and waits that fail with
/// EDEADLK at the end of the world.
using Scenario = std::function<Outcome(const Trial&)>;

/// Runs the world until nothing can happen any more. If a fiber still waits then, the outcome's
/// problem is World::stuck_report. Outcome::steps is filled only in a world with Tracing::kKeep.
[[nodiscard]] Outcome finish(World& world);

/// The outcome of the world so far, without a problem.
[[nodiscard]] Outcome outcome_of(const World& world);

/// Ends all injected faults and undoes their effects on links and hosts: afterwards every path
/// works, every port is active, and every host runs. Removed devices stay removed. Call this
/// function outside of fibers and critical sections.
void heal(World& world);

/// A trial that goes wrong.
struct Failure {
  Trial trial;
  Outcome outcome;
  std::size_t faults_found = 0;  ///< in the plan before it was shrunk
  std::string command{};         ///< the command that reproduces it; empty: unknown

  /// Seed, plan, trace hash, problem and command, for people.
  [[nodiscard]] std::string to_string() const;
  /// The source of a GoogleTest that repeats the failing trial. `scenario`: the C++ name of the
  /// function that was explored.
  [[nodiscard]] std::string to_test(std::string_view scenario) const;
};

/// Statistics of one situation (a named condition that programs report in each run, see
/// findings.h): `looked` runs reported on the situation, and it occurred in `seen` of them.
struct Sighting {
  std::uint64_t looked = 0;
  std::uint64_t seen = 0;
  bool operator==(const Sighting&) const = default;
};

/// The rank of a run among all runs of an exploration, so that merged shards agree on the first
/// failure. The run without faults has {0}. A run with n faults placed at chosen instants has n,
/// then the numbers of the placements. A run with random faults has a first number greater than any
/// n, then the number of its seed.
using RunPlace = std::vector<std::uint64_t>;

/// All failing runs whose problem texts begin alike, apart from numbers in them.
struct FailureKind {
  std::uint64_t runs = 0;
  Failure first;     ///< shrunk
  RunPlace place{};  ///< of the first
};

/// The result of a search: the failure that it found, and the runs that it made.
struct Exploration {
  std::uint64_t runs = 0;          ///< those for shrinking not counted
  std::optional<Failure> failure;  ///< the first, shrunk; the search ended with it

  /// For each fault, as text: the number of runs in which it occurred. The faults are those of
  /// ExploreOptions::menu and those that the scenario injected. A fault with 0 has tested nothing.
  /// If the process of a run died, all faults of the run count as having occurred.
  std::map<std::string, std::uint64_t> fired{};
  std::map<std::string, Sighting> situations{};
  std::map<std::string, FailureKind> kinds{};  ///< more than the first with keep_going

  /// The number of runs for each kind of failure whose problem does not contain the text of
  /// ExploreOptions::only.
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
  /// Returns a line for each situation that was reported: "in 12 of 300 runs: late UNREACHABLE
  /// seen".
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
  /// Candidate faults, from which each run gets some at random. Each run excludes about half of the
  /// kinds of faults (a kind is a pair of trigger and action), so that rare combinations of the
  /// other kinds occur (swarm testing). A run draws a kind first, and then a fault of that kind: a
  /// kind with many faults is as likely as a kind with one.
  std::vector<Fault> menu{};
  std::size_t faults_max = 4;  ///< per run

  /// Instants at which something happens in a run without faults, ascending. If a fault of the menu
  /// has no fixed instant, half of the drawn instants are just before or after one of these: the
  /// interesting part of a run may take a thousandth of its time.
  std::vector<verbs::Duration> moments{};
  /// Schedules (policies for the order of concurrent work) from which each run takes one at random.
  /// Empty: each run uses fifo.
  std::vector<Schedule> schedules{};
  /// Memory profiles from which each run takes one; empty: strict.
  std::vector<MemoryProfile> memories{};
  /// Whether some runs repeat an earlier run up to a rare event and continue with another seed from
  /// there. Priority changes of the schedule are then also placed near such events.
  bool branching = false;
  /// Whether some runs are mutations of earlier trials that increased the coverage.
  bool feedback = false;

  // --- before these: every placement
  // --------------------------------------------------------------

  /// Fault actions that are tried at every instant at which something happens in the run of the
  /// first seed: "remove the device at every step". Those runs come before the random ones. Only
  /// actions that need no message and no request are allowed.
  std::vector<FaultAction> placed{};
  /// The largest number of `placed` faults in one run. Runs with fewer faults come first. The
  /// number of runs is (steps * actions) to the power of this number.
  std::size_t placed_max = 1;
  std::uint64_t placed_runs_max = 10'000;

  // --- how
  // ----------------------------------------------------------------------------------------
  std::vector<Parameter> workload{};    ///< of every run; made smaller only to shrink a failure
  std::vector<std::string> expected{};  ///< situations to report even if never seen
  bool keep_going = false;              ///< search on after a failure, and collect kinds

  /// Only problems that contain this text count as failures. Other failures are counted in
  /// Exploration::others. Empty: all problems are failures.
  std::string only{};
  /// The limit of real time for the search and for shrinking its failures; zero: no limit. With
  /// keep_going, shrinking may take up to a quarter of this time for each kind of failure.
  std::chrono::nanoseconds budget{};
  /// The number of forked processes that execute runs, at most one per core. The result does not
  /// depend on this number, and a crash of a run is a failure like any other. 0: all runs execute
  /// in this process. Precondition: the caller has no other threads.
  unsigned jobs = 0;
  /// The limit of CPU time of one run, if jobs is not 0. A run that takes longer is reported as a
  /// failure: it does not end.
  std::chrono::nanoseconds patience = std::chrono::seconds(10);
  /// Called from time to time, also while another process executes a run. If the function returns
  /// true, the search and the shrinking end with the results so far. May be empty.
  std::function<bool()> interrupted{};
  std::uint64_t shrink_runs_max = kShrinkRunsMax;  ///< for each kind of failure
  bool progress = false;                           ///< on stderr: how far it is, and what fails

  /// Of all runs, this process executes only every `shards`-th, beginning with number `shard` (from
  /// 0). With branching or feedback, each shard uses only the results of its own runs.
  std::uint64_t shards = 1;
  std::uint64_t shard = 0;
  /// The command that reproduces a failure when the quoted trial is appended, for example "anyrdma
  /// replay connect". Empty: the command runs the current test with the trial in $ANYRDMA_TRIAL.
  std::string command{};
};

/// Runs the scenario with many trials until one fails, and makes the failing trial smaller (see
/// shrink()). The first trials run twice, to find scenarios that are not deterministic: see
/// Exploration::differs. If only the second run fails, that is the failure. If $ANYRDMA_TRIAL
/// contains a trial (trial.h), only that trial runs. The same options give the same result, unless
/// the time budget ends the search.
[[nodiscard]] Exploration explore(const ExploreOptions& options, const Scenario& scenario);

/// Returns `options` adapted to this process of a test that Bazel runs in shards
/// (TEST_TOTAL_SHARDS) or repeatedly (TEST_RUN_NUMBER of --runs_per_test): each shard gets a part
/// of the seeds, and each repetition gets other seeds. The call also creates the file by which
/// Bazel learns that the test supports shards. Link //sim/testing:sharded, or GoogleTest
/// distributes its tests over the shards as well.
[[nodiscard]] ExploreOptions for_this_shard(ExploreOptions options);

/// Runs a scenario once in a forked process, so that a crash of the scenario becomes its outcome.
/// `patience`: as in ExploreOptions. `stop`: as ExploreOptions::interrupted; if it ends the run,
/// the outcome is empty.
[[nodiscard]] Outcome run_apart(const Scenario& scenario, const Trial& trial,
                                std::chrono::nanoseconds patience,
                                const std::function<bool()>& stop = {});

/// Limits and callbacks of shrinking.
struct ShrinkOptions {
  std::uint64_t runs_max = kShrinkRunsMax;
  /// Called before and after each run of the shrinking. If it returns true, shrinking ends and the
  /// current run is ignored. May be empty.
  std::function<bool()> stop{};
  /// Called with the smallest failing trial so far and the number of runs made. May be empty.
  std::function<void(const Trial&, std::uint64_t)> tell{};
};

/// Returns the smallest trial found that still fails in the same way: its problem begins alike
/// except for numbers. The function removes faults (delta debugging), replaces random occurrences
/// of a fault by numbered ones, resets scheduling choices to fifo, and reduces parameters. If the
/// limit of `runs_max` runs was not reached, the result no longer fails so without any one of its
/// faults or choices. A trial that passes is returned unchanged.
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

/// The options of explore_steps(): the faults that it injects at every instant of a run, and how
/// many of them in one run.
struct StepOptions {
  std::uint64_t seed = 1;
  std::vector<FaultAction> actions{};
  std::size_t faults_max = 1;
  std::uint64_t runs_max = 10'000;
};
/// Only the placements.
[[nodiscard]] Exploration explore_steps(const Scenario& scenario, const StepOptions& options);

}  // namespace anyrdma::sim
