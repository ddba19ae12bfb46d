#include "sim/scenarios/stage.h"

#include <algorithm>
#include <chrono>

#include "sim/recorder.h"

namespace anyrdma::sim::scenarios {
namespace {

using namespace std::chrono_literals;

/// Plugs in again what was removed.
void return_devices(World& world) {
  for (const auto& host : world.hosts()) {
    for (std::size_t i = 0; i < host->interfaces().size(); ++i) {
      (void)host->devices().bring_back("anyrdma" + std::to_string(i)).has_value();
    }
  }
}

// By a temporary in a list of initializers g++ 12 sees members that nobody has set.
WorldOptions options_of(const Trial& trial, const Staging& staging) {
  WorldOptions options;
  options.tracing = staging.tracing;
  options.record = staging.record;
  return trial.options(options);
}

}  // namespace

Stage::Stage(const Trial& trial, const Staging& staging)
    : trial_(trial), staging_(staging), world_(trial.seed, options_of(trial, staging)) {}

bool Stage::set() {
  if (world_.recorder() != nullptr) world_.recorder()->about("command", staging_.command);
  const auto accepted = world_.faults().inject(trial_.plan);
  if (!accepted) refusal_ = "the plan is refused: " + accepted.error().to_string() + "\n";
  return accepted.has_value();
}

Outcome Stage::play(const Score& score, Demand demand) {
  if (!refusal_.empty() || staging_.rehearsal) return {.problem = refusal_};
  world_.run_for(std::chrono::seconds(trial_.size("seconds", 30)));
  if (demand == Demand::kWhateverHappened) return_devices(world_);
  heal(world_);
  Outcome outcome = finish(world_);
  if (staging_.trace != nullptr) *staging_.trace = world_.trace().text();
  const bool undisturbed = std::all_of(outcome.faults.begin(), outcome.faults.end(),
                                       [](const FaultStatus& status) { return status.fired == 0; });
  if ((undisturbed || demand == Demand::kWhateverHappened) && score.passed < score.wanted) {
    outcome.problem += "only " + std::to_string(score.passed) + " of " +
                       std::to_string(score.wanted) + " messages passed\n";
  }
  if (world_.recorder() != nullptr && !outcome.problem.empty())
    world_.recorder()->finding(outcome.problem);
  return outcome;
}

}  // namespace anyrdma::sim::scenarios
