#include "sim/explore/explore.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <utility>

#include "sim/explore/draw.h"
#include "sim/explore/guide.h"
#include "sim/explore/running_test.h"
#include "sim/explore/search.h"
#include "sim/fault_action.h"
#include "sim/host.h"
#include "sim/schedule/random_stream.h"
#include "sim/world.h"

namespace anyrdma::sim {
namespace {

std::uint64_t number_in(const char* name, std::uint64_t otherwise) {
  const char* value = variable_that_is_set(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

/// A run that went well, to which faults can be added at or behind `from`.
struct Survivor {
  FaultPlan plan;
  RunPlace place;
  std::vector<verbs::Duration> steps;
};

std::vector<verbs::Duration> from_on(const std::vector<verbs::Duration>& steps,
                                     verbs::Duration from) {
  return {std::lower_bound(steps.begin(), steps.end(), from), steps.end()};
}

/// All plans that have one more of the actions than a survivor, in order.
class Placements {
 public:
  Placements(const std::vector<Survivor>& survivors, const std::vector<FaultAction>& actions)
      : survivors_(survivors), actions_(actions) {
    for (const Survivor& survivor : survivors) {
      ends_.push_back(count() + survivor.steps.size() * actions.size());
    }
  }

  [[nodiscard]] std::uint64_t count() const { return ends_.empty() ? 0 : ends_.back(); }
  [[nodiscard]] Run run(std::uint64_t index, const Trial& like) const {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), index);
    const auto which = static_cast<std::size_t>(end - ends_.begin());
    const std::uint64_t within = index - (which == 0 ? 0 : ends_[which - 1]);
    Run run{.trial = like, .place = survivors_[which].place};
    run.trial.plan = survivors_[which].plan;
    const verbs::Duration step = survivors_[which].steps[within / actions_.size()];
    run.trial.plan.faults.push_back({AtTime{step}, actions_[within % actions_.size()], true});
    ++run.place.front();
    run.place.push_back(within);
    return run;
  }

 private:
  const std::vector<Survivor>& survivors_;
  const std::vector<FaultAction>& actions_;
  std::vector<std::uint64_t> ends_;
};

/// How many of the numbers below `all` a shard has.
std::uint64_t share(const ExploreOptions& options, std::uint64_t all) {
  return all > options.shard ? (all - options.shard - 1) / options.shards + 1 : 0;
}

/// False: the search is over.
bool place(Search& search, const ExploreOptions& options) {
  const Trial bare{.seed = options.first_seed, .workload = options.workload};
  std::vector<Survivor> survivors;
  const auto keep = [&survivors](const Run& run, const Outcome& outcome) {
    const auto& faults = run.trial.plan.faults;
    const auto from =
        faults.empty() ? verbs::Duration::zero() : std::get<AtTime>(faults.back().trigger).time;
    survivors.push_back({run.trial.plan, run.place, from_on(outcome.steps, from)});
  };
  // All shards need it; it is the first one's to tell of.
  search.set_quiet(options.shard != 0);
  const auto make_first = [&](std::uint64_t) { return Run{.trial = bare, .place = {0}}; };
  if (!search.run(1, true, make_first, keep)) return false;
  search.set_quiet(false);
  std::uint64_t left = options.placed_runs_max;
  for (std::size_t faults = 1; faults <= options.placed_max; ++faults) {
    const std::vector<Survivor> parents = std::exchange(survivors, {});
    const Placements placements(parents, options.placed);
    const bool divided = faults == 1;  // the next are of this shard
    const std::uint64_t all = std::min(left, placements.count());
    const std::uint64_t count = divided ? share(options, all) : all;
    left = divided ? (left - all) / options.shards : left - all;
    const bool again = faults < options.placed_max;
    const auto make = [&](std::uint64_t i) {
      return placements.run(divided ? options.shard + i * options.shards : i, bare);
    };
    const auto then = [&](const Run& run, const Outcome& outcome) {
      if (again) keep(run, outcome);
    };
    if (!search.run(count, again, make, then)) return false;
  }
  return true;
}

bool sample(Search& search, const ExploreOptions& options) {
  Guide guide(options);
  const auto make = [&](std::uint64_t i) {
    const std::uint64_t number = options.shard + i * options.shards;
    RandomStream dice(options.first_seed + number, "explore");
    Run run = draw_run(options, number, dice);
    guide.steer(run, dice);
    return run;
  };
  search.set_guide(&guide);
  const bool goes_on =
      search.run(share(options, options.runs), false, make, [](const Run&, const Outcome&) {});
  search.set_guide(nullptr);
  return goes_on;
}

/// What $ANYRDMA_TRIAL asks for, instead of all else.
Exploration only(Search& search, const char* text) {
  const auto trial = Trial::parse(text);
  if (!trial) {
    search.result.failure.emplace().outcome.problem =
        "ANYRDMA_TRIAL is invalid: " + trial.error().to_string() + "\n";
  } else {
    (void)search.run(
        1, false, [&](std::uint64_t) { return Run{.trial = *trial, .place = {0}}; },
        [](const Run&, const Outcome&) {});
  }
  return search.result;
}

}  // namespace

Outcome finish(World& world) {
  const bool stuck = !world.run();
  Outcome outcome = outcome_of(world);
  if (stuck) outcome.problem = world.stuck_report();
  return outcome;
}

Outcome outcome_of(const World& world) {
  Outcome outcome;
  const Trace& trace = world.trace();
  outcome.trace_hash = trace.hash();
  outcome.faults = world.faults().status();
  outcome.deviations = world.scheduler().deviations();
  outcome.choices = world.scheduler().choices();
  outcome.memory = world.memory().made();
  if (world.options().tracing != Tracing::kKeep) return outcome;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const verbs::Duration when = trace.record(i).time.time_since_epoch();
    if (outcome.steps.empty() || outcome.steps.back() != when) outcome.steps.push_back(when);
  }
  return outcome;
}

void heal(World& world) {
  world.faults().end();
  carry_out(world, MendPath{.from = "", .to = "", .both = true});
  for (const auto& host : world.hosts()) {
    carry_out(world, MendPath{.from = host->name(), .to = host->name()});
    (void)host->power().resume().has_value();
    if (!host->running()) host->power().restart();
    (void)host->slow_down({});
    for (const Interface& interface : host->interfaces()) {
      carry_out(world, MendRail{.host = host->name(), .interface = interface.name});
    }
    for (const std::string& device : host->devices().names()) {
      carry_out(world, PortUp{.host = host->name(), .device = device});
    }
  }
}

Exploration explore(const ExploreOptions& options, const Scenario& scenario) {
  Search search(options, scenario);
  if (const char* text = variable_that_is_set("ANYRDMA_TRIAL")) return only(search, text);
  if (!options.placed.empty() && !place(search, options)) return search.result;
  (void)sample(search, options);
  return search.result;
}

Exploration explore_samples(const Scenario& scenario, const SampleOptions& options) {
  return explore({.first_seed = options.first_seed,
                  .runs = options.runs,
                  .menu = options.menu,
                  .faults_max = options.faults_max},
                 scenario);
}

Exploration explore_steps(const Scenario& scenario, const StepOptions& options) {
  return explore({.first_seed = options.seed,
                  .runs = 0,
                  .placed = options.actions,
                  .placed_max = options.faults_max,
                  .placed_runs_max = options.runs_max},
                 scenario);
}

ExploreOptions for_this_shard(ExploreOptions options) {
  options.shards = std::max<std::uint64_t>(number_in("TEST_TOTAL_SHARDS", 1), 1);
  options.shard = number_in("TEST_SHARD_INDEX", 0) % options.shards;
  const std::uint64_t repetition = std::max<std::uint64_t>(number_in("TEST_RUN_NUMBER", 1), 1) - 1;
  options.first_seed += repetition * options.runs;
  if (const char* path = variable_that_is_set("TEST_SHARD_STATUS_FILE"))
    std::ofstream(path).put('\n');
  return options;
}

}  // namespace anyrdma::sim
