// A run that an explanation asks for, and its result. Searches get results from a function, so that
// tests can search without running anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/explore/trial.h"

namespace anyrdma::sim::explain {

/// One step of a run: a fiber ran to its next scheduling point, or a task ran.
struct Step {
  std::uint64_t mover = 0;   ///< the number of what ran: Candidate::number()
  std::uint64_t point = 0;   ///< the number of scheduling decisions before this step
  std::uint32_t choice = 0;  ///< the index of what ran among the candidates
  bool decided = false;      ///< there were several candidates
  verbs::Duration time{};    ///< the virtual time before the step
  bool operator==(const Step&) const = default;
};

/// From a scheduling decision on, each choice is random, from a seed.
struct Drawn {
  std::uint64_t from = 0;
  std::uint64_t seed = 0;
};

/// A run to make.
struct Probe {
  /// Its schedule is Policy::kGiven, so that each step asks the director.
  Trial trial;
  /// The movers that run from step number `script_from` on, in this order (script.h). Where none of
  /// them can run, the trial's schedule chooses. Empty: no script.
  std::vector<std::uint64_t> script{};
  std::uint64_t script_from = 0;
  std::optional<Drawn> drawn{};
  /// The virtual time from which the run may differ from the failing one. If it then goes on for
  /// much longer than runs that pass, it may be stopped (patience.h). nullopt: it is never stopped.
  std::optional<verbs::Duration> parts{};
  /// The run is stopped at this virtual time.
  std::optional<verbs::Duration> limit{};
  bool keeps_steps = false;  ///< whether Answer::steps is wanted
};

/// The result of a run.
struct Answer {
  Outcome outcome;
  std::vector<Step> steps{};
  verbs::Duration end{};  ///< the virtual time of its last step
  bool stopped = false;   ///< at the probe's limit; its outcome is that of an interrupted run

  /// A run that was stopped counts as failing.
  [[nodiscard]] bool fails() const { return stopped || !outcome.problem.empty(); }
};

/// Makes runs, and returns their results in the same order. The result has fewer elements than the
/// argument if the time is over or the user has interrupted the search. The same probe has the same
/// answer.
using Judge = std::function<std::vector<Answer>(const std::vector<Probe>& probes)>;

/// Returns the trial with these choices of the scheduler. Its slack and branches stay.
[[nodiscard]] inline Trial with_choices(Trial trial, std::vector<Deviation> choices) {
  trial.schedule = {.policy = Policy::kGiven,
                    .slack = trial.schedule.slack,
                    .deviations = std::move(choices),
                    .branches = std::move(trial.schedule.branches)};
  return trial;
}

}  // namespace anyrdma::sim::explain
