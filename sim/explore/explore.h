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

/// Runs the world until nothing can happen any more, and returns the outcome of the run. If a fiber
/// that must end still waits then, the outcome's problem is World::stuck_report. Outcome::steps is
/// filled only in a world with Tracing::kKeep.
[[nodiscard]] Outcome finish(World& world);

/// The outcome of the world so far, without a problem.
[[nodiscard]] Outcome outcome_of(const World& world);

/// Ends all injected faults and undoes their effects on links and hosts: afterwards every path
/// works, every port is active, and every host runs. Removed devices stay removed. Call this
/// function outside of fibers and outside of the runtime's critical section
/// (verbs::Runtime::enter).
void heal(World& world);

/// A trial that goes wrong.
struct Failure {
  Trial trial;
  Outcome outcome;
  std::size_t faults_found = 0;  ///< The number of faults in the trial before shrinking.
  std::string command{};         ///< the command that reproduces it; empty: unknown

  /// Seed, plan, trace hash, problem and command, for people.
  [[nodiscard]] std::string to_string() const;
  /// Returns the source of a GoogleTest that repeats the failing trial. `scenario`: the C++ name of
  /// the function that was explored.
  [[nodiscard]] std::string to_test(std::string_view scenario) const;
};

/// Statistics of one situation (a named condition that a program reports in each run, see
/// findings.h): `looked` is the number of runs that reported on the situation, and `seen` the
/// number of runs in which it occurred.
struct Sighting {
  std::uint64_t looked = 0;
  std::uint64_t seen = 0;
  bool operator==(const Sighting&) const = default;
};

/// The rank of a run among all runs of an exploration: a list of numbers, compared from the left.
/// Shards that are merged use it to agree on the first failure. The run without faults has the rank
/// {0}. A run with n faults that were placed at chosen instants has n, then the numbers of the
/// placements. A run with random faults has a first number greater than any n, then the number of
/// its seed.
using RunPlace = std::vector<std::uint64_t>;

/// All failing runs whose problem texts begin alike, if numbers in the texts are ignored.
struct FailureKind {
  std::uint64_t runs = 0;
  Failure first;     ///< shrunk
  RunPlace place{};  ///< of the first
};

/// The result of a search: the failure that it found, and the runs that it made.
struct Exploration {
  std::uint64_t runs = 0;  ///< those for shrinking not counted

  /// The first failure that was found, after shrinking. Without keep_going, the search ended with
  /// it.
  std::optional<Failure> failure;

  /// Counts for each fault, given as text, the runs in which the fault occurred. The faults are
  /// those of ExploreOptions::menu and those that the scenario injected. A fault with the count 0
  /// has tested nothing. If the process of a run died, all faults of the run count as having
  /// occurred.
  std::map<std::string, std::uint64_t> fired{};
  std::map<std::string, Sighting> situations{};
  /// The failures by kind. Several kinds only with ExploreOptions::keep_going.
  std::map<std::string, FailureKind> kinds{};

  /// The number of failing runs that ExploreOptions::only excludes (their problem does not contain
  /// its text), for each kind of failure.
  std::map<std::string, std::uint64_t> others{};
  bool out_of_time = false;  ///< the budget ended it
  bool interrupted = false;  ///< ExploreOptions::interrupted did

  /// Bits of coverage that runs reached; 0 without branching and feedback.
  std::uint64_t bits = 0;
  std::uint64_t last_new = 0;  ///< the number, from 1, of the run that reached the last new bit

  /// Sentences about a trial whose second run differed from its first. Empty: no such trial.
  std::string differs{};

  /// The situations that never occurred.
  [[nodiscard]] std::vector<std::string> never_seen() const;
  /// Returns one line: the number of runs, and the faults that never occurred.
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

  /// Instants at which something happens in a run without faults, ascending. They make random
  /// faults more effective: the interesting part of a run may take a thousandth of its time. If a
  /// fault of the menu has no fixed instant, half of its drawn instants are just after one of
  /// these.
  std::vector<verbs::Duration> moments{};
  /// Schedules (policies for the order of concurrent work) from which each run takes one at random.
  /// Empty: each run uses fifo.
  std::vector<Schedule> schedules{};
  /// Memory profiles from which each run takes one; empty: strict.
  std::vector<MemoryProfile> memories{};
  /// Whether some runs repeat an earlier run up to a rare event and continue with another seed from
  /// there (branching). With a PCT schedule, its priority changes are then also placed near such
  /// events.
  bool branching = false;
  /// Whether some runs are mutations of earlier trials that increased the coverage.
  bool feedback = false;

  // --- before these: every placement
  // --------------------------------------------------------------

  /// Fault actions for exhaustive placement: each action is tried at every instant at which
  /// something happens in the run of the first seed. Example: "remove the device" at every step.
  /// Those runs come before the random ones. Only actions that need no message and no request are
  /// allowed.
  std::vector<FaultAction> placed{};
  /// The largest number of `placed` faults in one run. Runs with fewer faults come first. The
  /// number of runs is (steps * actions) to the power of this number, where a step is an instant at
  /// which something happens.
  std::size_t placed_max = 1;
  std::uint64_t placed_runs_max = 10'000;

  // --- how
  // ----------------------------------------------------------------------------------------

  /// Workload parameters of every run. Only shrinking of a failure makes them smaller.
  std::vector<Parameter> workload{};
  std::vector<std::string> expected{};  ///< situations that are reported even if no run saw them

  /// Whether the search continues after a failure, and collects kinds of failures.
  bool keep_going = false;

  /// Only problems that contain this text count as failures. Other failures are counted in
  /// Exploration::others. Empty: all problems are failures.
  std::string only{};
  /// The limit of real time for the search and for shrinking its failures; zero: no limit. With
  /// keep_going, shrinking may take up to a quarter of this time for each kind of failure.
  std::chrono::nanoseconds budget{};
  /// The number of forked processes that execute runs, at most one per core. The result does not
  /// depend on this number, and a crash of a run is a failure like any other. If 0, all runs
  /// execute in this process. Precondition: the caller has no other threads.
  unsigned jobs = 0;
  /// The limit of CPU time of one run, if `jobs` is not 0. A run that takes longer is a failure
  /// with the problem that the run does not end.
  std::chrono::nanoseconds patience = std::chrono::seconds(10);
  /// Called from time to time during a search, also while another process executes a run. If the
  /// function returns true, the search and the shrinking end with the results so far. May be empty.
  std::function<bool()> interrupted{};
  std::uint64_t shrink_runs_max = kShrinkRunsMax;  ///< for each kind of failure

  /// Whether the search reports its progress and its failures on stderr.
  bool progress = false;

  /// The number of shards (processes that each execute a part of the runs). This process executes
  /// every `shards`-th run, beginning with run number `shard` (from 0). With branching or feedback,
  /// each shard uses only the results of its own runs.
  std::uint64_t shards = 1;
  std::uint64_t shard = 0;
  /// The command that reproduces a failure if the trial, quoted for the shell, is appended to it,
  /// for example "anyrdma replay connect". Empty: the command of a failure runs the current test
  /// with the trial in $ANYRDMA_TRIAL.
  std::string command{};
};

/// Runs the scenario with many trials until one fails, and makes the failing trial smaller (see
/// shrink()). The first trials run twice, to find scenarios that are not deterministic: see
/// Exploration::differs. A trial that fails only in its second run is a failure, too. If
/// $ANYRDMA_TRIAL contains a trial (trial.h), only that trial runs. The same options give the same
/// result, unless the time budget ends the search.
[[nodiscard]] Exploration explore(const ExploreOptions& options, const Scenario& scenario);

/// Adapts `options` to this process of a test, and returns them. If Bazel runs the test in shards
/// (TEST_TOTAL_SHARDS), each shard gets a part of the seeds. If Bazel repeats it (--runs_per_test,
/// TEST_RUN_NUMBER), each repetition gets other seeds. The call also creates the file by which
/// Bazel learns that the test supports shards. Link //sim/testing:sharded; without it GoogleTest
/// distributes its tests over the shards as well.
[[nodiscard]] ExploreOptions for_this_shard(ExploreOptions options);

/// Runs a scenario once in a forked process, so that a crash of the scenario becomes its outcome.
/// `patience`: the limit of CPU time, as in ExploreOptions. `stop` is called from time to time; if
/// it returns true, the run ends and its outcome is empty.
[[nodiscard]] Outcome run_apart(const Scenario& scenario, const Trial& trial,
                                std::chrono::nanoseconds patience,
                                const std::function<bool()>& stop = {});

/// Limits and callbacks of shrinking.
struct ShrinkOptions {
  std::uint64_t runs_max = kShrinkRunsMax;
  /// Called before and after each run that shrinking makes. If the function returns true, shrinking
  /// ends and the current run is ignored. May be empty.
  std::function<bool()> stop{};
  /// Called with the smallest failing trial so far and the number of runs that shrinking has made.
  /// May be empty.
  std::function<void(const Trial&, std::uint64_t)> tell{};
};

/// Returns the smallest trial found that still fails in the same way: its problem begins alike,
/// numbers ignored. The function removes faults (delta debugging), replaces random occurrences of a
/// fault by numbered ones, resets scheduling choices to the first candidate, and reduces
/// parameters. A trial that passes is returned unchanged. Unless the limit of `runs_max` runs was
/// reached, each remaining fault and choice is needed: without any one of them, the trial does not
/// fail in that way.
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

/// The options of explore_steps(): the faults that explore_steps() injects at every instant of a
/// run, and the largest number of such faults in one run.
struct StepOptions {
  std::uint64_t seed = 1;
  std::vector<FaultAction> actions{};
  std::size_t faults_max = 1;
  std::uint64_t runs_max = 10'000;
};
/// Only the placements.
[[nodiscard]] Exploration explore_steps(const Scenario& scenario, const StepOptions& options);

}  // namespace anyrdma::sim
