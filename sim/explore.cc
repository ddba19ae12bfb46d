#include "sim/explore.h"

#include <algorithm>
#include <set>
#include <utility>

#include "sim/fault_action.h"
#include "sim/host.h"
#include "sim/random_stream.h"
#include "sim/text.h"
#include "sim/world.h"

namespace anyrdma::sim {
namespace {

/// Counts runs; keeps the first that goes wrong, shrunk.
class Search {
 public:
  explicit Search(const Scenario& scenario) : scenario_(scenario) {}

  /// False: it went wrong, and the search is over.
  [[nodiscard]] bool run(const Trial& trial, Outcome& outcome) {
    outcome = scenario_(trial);
    ++result.runs;
    for (const FaultStatus& status : outcome.faults) {
      result.fired[sim::to_string(status.fault)] += status.fired != 0 ? 1 : 0;
    }
    if (outcome.problem.empty()) return true;
    Failure& failure = result.failure.emplace();
    failure.faults_found = trial.plan.faults.size();
    failure.trial = {trial.seed, shrink(scenario_, trial)};
    failure.outcome = scenario_(failure.trial);
    return false;
  }

  Exploration result;

 private:
  const Scenario& scenario_;
};

/// The faults of one run, in the order of the menu.
FaultPlan draw(const SampleOptions& options, std::uint64_t seed) {
  RandomStream dice(seed, "explore");
  std::set<std::size_t> left_out;  // kinds of actions
  for (std::size_t kind = 0; kind < std::variant_size_v<FaultAction>; ++kind) {
    if (dice.below(2) == 0) left_out.insert(kind);
  }
  std::vector<std::size_t> choice;
  for (std::size_t i = 0; i < options.menu.size(); ++i) {
    if (!left_out.contains(options.menu[i].action.index())) choice.push_back(i);
  }
  const std::size_t count =
      std::min<std::size_t>(choice.size(), dice.below(options.faults_max + 1));
  for (std::size_t i = 0; i < count; ++i) {
    std::swap(choice[i], choice[i + dice.below(choice.size() - i)]);
  }
  choice.resize(count);
  std::sort(choice.begin(), choice.end());
  FaultPlan plan;
  for (const std::size_t i : choice) {
    plan.faults.push_back(options.menu[i]);
    plan.faults.back().maybe = true;  // whether it comes to that, the seed decides
  }
  return plan;
}

/// Adds one more fault to a run that went well, at each of its steps that come after the plan's
/// last. False: the search is over.
bool place(Search& search, const StepOptions& options, const Trial& trial, const Outcome& before,
           verbs::Duration from) {
  for (const verbs::Duration step : before.steps) {
    if (step < from) continue;
    for (const FaultAction& action : options.actions) {
      if (search.result.runs >= options.runs_max) return false;
      Trial next = trial;
      next.plan.faults.push_back({AtTime{step}, action, true});
      Outcome outcome;
      if (!search.run(next, outcome)) return false;
      if (next.plan.faults.size() >= options.faults_max) continue;
      if (!place(search, options, next, outcome, step)) return false;
    }
  }
  return true;
}

}  // namespace

Outcome finish(World& world) {
  Outcome outcome;
  if (!world.run()) outcome.problem = world.stuck_report();
  const Trace& trace = world.trace();
  outcome.trace_hash = trace.hash();
  outcome.faults = world.faults().status();
  if (world.options().tracing != Tracing::kKeep) return outcome;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const verbs::Duration when = trace.record(i).time.time_since_epoch();
    if (outcome.steps.empty() || outcome.steps.back() != when) outcome.steps.push_back(when);
  }
  return outcome;
}

void heal(World& world) {
  carry_out(world, MendPath{.from = "", .to = "", .both = true});
  for (const auto& host : world.hosts()) {
    carry_out(world, MendPath{.from = host->name(), .to = host->name()});
    for (const std::string& device : host->devices()) {
      carry_out(world, PortUp{.host = host->name(), .device = device});
    }
  }
}

Exploration explore_samples(const Scenario& scenario, const SampleOptions& options) {
  Search search(scenario);
  for (std::uint64_t i = 0; i < options.runs; ++i) {
    const std::uint64_t seed = options.first_seed + i;
    Outcome outcome;
    if (!search.run({seed, draw(options, seed)}, outcome)) break;
  }
  return search.result;
}

Exploration explore_steps(const Scenario& scenario, const StepOptions& options) {
  Search search(scenario);
  const Trial undisturbed{options.seed, {}};
  Outcome outcome;
  if (search.run(undisturbed, outcome) && options.faults_max > 0) {
    (void)place(search, options, undisturbed, outcome, verbs::Duration::zero());
  }
  return search.result;
}

FaultPlan shrink(const Scenario& scenario, const Trial& trial) {
  std::vector<Fault> kept = trial.plan.faults;
  std::size_t pieces = 2;
  while (!kept.empty()) {
    const std::size_t size = (kept.size() + pieces - 1) / pieces;
    bool smaller = false;
    for (std::size_t begin = 0; begin < kept.size() && !smaller; begin += size) {
      Trial without{trial.seed, {kept}};
      auto& faults = without.plan.faults;
      const std::size_t end = std::min(begin + size, kept.size());
      faults.erase(faults.begin() + static_cast<std::ptrdiff_t>(begin),
                   faults.begin() + static_cast<std::ptrdiff_t>(end));
      smaller = !scenario(without).problem.empty();
      if (smaller) kept = std::move(faults);
    }
    if (smaller) {
      pieces = std::max<std::size_t>(pieces - 1, 2);
    } else if (size == 1) {
      break;
    } else {
      pieces = std::min(pieces * 2, kept.size());
    }
  }
  return {kept};
}

// --- for people ---------------------------------------------------------------------------------

std::string Failure::to_string() const {
  std::string text = "seed " + std::to_string(trial.seed);
  append(text, ", trace hash 0x%016llx, ", static_cast<unsigned long long>(outcome.trace_hash));
  append(text, "%zu of %zu faults:\n", trial.plan.faults.size(), faults_found);
  return text + trial.plan.to_string() + outcome.problem;
}

std::string Failure::to_test(std::string_view scenario) const {
  std::string text = "TEST(Replay, Seed" + std::to_string(trial.seed) + ") {\n";
  text += "  const auto plan = anyrdma::sim::FaultPlan::parse(\n";
  for (const Fault& fault : trial.plan.faults) {
    text += "      \"" + sim::to_string(fault) + "\\n\"\n";
  }
  if (trial.plan.faults.empty()) text += "      \"\"\n";
  text += "      ).value();\n\n";
  text += "  EXPECT_EQ(" + std::string(scenario) + "({" + std::to_string(trial.seed);
  return text + ", plan}).problem, \"\");\n}\n";
}

std::string Exploration::to_string() const {
  std::string text = std::to_string(runs) + " runs";
  for (const auto& [fault, times] : fired) {
    if (times == 0) text += "; never fired: " + fault;
  }
  return text;
}

}  // namespace anyrdma::sim
