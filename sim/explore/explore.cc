#include "sim/explore/explore.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string_view>
#include <utility>

#include "sim/explore/outcome_bytes.h"
#include "sim/explore/progress.h"
#include "sim/explore/run_pool.h"
#include "sim/explore/running_test.h"
#include "sim/fault_action.h"
#include "sim/host.h"
#include "sim/schedule/random_stream.h"
#include "sim/text/text.h"
#include "sim/world.h"

namespace anyrdma::sim {
namespace {

using Clock = std::chrono::steady_clock;

/// The faults of one run, in the order of the menu.
FaultPlan draw(const ExploreOptions& options, RandomStream& dice) {
  std::map<std::size_t, bool> left_out;  // by kind of action
  std::vector<std::size_t> choice;
  for (std::size_t i = 0; i < options.menu.size(); ++i) {
    const auto [kind, is_new] = left_out.try_emplace(options.menu[i].action.index());
    if (is_new) kind->second = dice.below(2) == 0;
    if (!kind->second) choice.push_back(i);
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

/// How a problem begins that is none of the trial's own.
constexpr std::string_view kMood = "the same trial went well before";

/// How one begins that was there in one run of a trial, and not in the next.
const std::string kOnce = "once, and not when it was run again:\n";

/// A run, with what its programs and checkers said of it.
Outcome perform(const Scenario& scenario, const Trial& trial) {
  const Findings findings;
  Outcome outcome = scenario(trial);
  outcome.problem += findings.problems();
  outcome.situations = findings.situations();
  return outcome;
}

/// Trials at the beginning of a search that are run twice.
constexpr std::uint64_t kRepeatedTrials = 3;

std::string hash_text(const Outcome& outcome) {
  std::string text;
  append(text, "0x%016llx", static_cast<unsigned long long>(outcome.trace_hash));
  return text;
}

/// The same twice: what is replayed or shrunk has to come again. A run that goes wrong is told as
/// it is.
Outcome perform_twice(const Scenario& scenario, const Trial& trial) {
  Outcome outcome = perform(scenario, trial);
  if (!outcome.problem.empty()) return outcome;
  const Outcome again = perform(scenario, trial);
  if (again.trace_hash != outcome.trace_hash) {
    outcome.differs = "two runs of one trial differ: trace hash " + hash_text(outcome) + ", then " +
                      hash_text(again) +
                      ".\nA static or global variable that programs change is the usual reason; "
                      "others are a pointer's value,\nreal time and random numbers of their own. "
                      "What goes wrong may not be had again.\n";
  }
  if (!again.problem.empty()) outcome.problem = std::string(kMood) + ":\n" + again.problem;
  return outcome;
}

/// The same in a process of its own, so that a crash is an outcome.
Outcome perform_apart(const Scenario& scenario, const Trial& trial,
                      std::chrono::nanoseconds patience, const std::function<bool()>& stop) {
  Outcome outcome;
  run_in_order(
      1, {.processor_time = patience, .stop = stop},
      [&](std::uint64_t) { return to_bytes(perform(scenario, trial)); },
      [&](std::uint64_t, const std::string& bytes, const std::string& death) {
        if (death.empty()) {
          outcome = outcome_from(bytes);
        } else {
          outcome.problem = death + "\n";
        }
        return true;
      });
  return outcome;
}

std::string without_numbers(std::string_view text) {
  std::string kind;
  for (const char c : text) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) kind += c;
    if (digit && (kind.empty() || kind.back() != '#')) kind += '#';
  }
  return kind;
}

/// How a problem begins, without its numbers; where that announces a list, with what is on it,
/// whatever the order, and how often.
std::string kind_of(std::string_view problem) {
  const std::size_t first = std::min(problem.find('\n'), problem.size());
  std::string kind = without_numbers(problem.substr(0, first));
  if (!kind.ends_with(':')) return kind;
  std::set<std::string> listed;
  for (std::size_t begin = first + 1; begin < problem.size();) {
    const std::size_t end = std::min(problem.find('\n', begin), problem.size());
    if (problem[begin] != ' ') listed.insert(without_numbers(problem.substr(begin, end - begin)));
    begin = end + 1;
  }
  for (const std::string& line : listed) kind += '\n' + line;
  return kind;
}

std::string quoted_for_shell(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

const char* environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

std::uint64_t number_in(const char* name, std::uint64_t otherwise) {
  const char* value = environment(name);
  return value == nullptr ? otherwise : std::strtoull(value, nullptr, 10);
}

std::string command_for(const ExploreOptions& options, const Trial& trial) {
  const std::string text = quoted_for_shell(trial.to_string());
  if (!options.command.empty()) return options.command + " " + text;
  const std::string test = running_test();
  if (const char* target = environment("TEST_TARGET")) {
    return std::string("bazel test ") + target +
           (test.empty() ? "" : " --test_filter='" + test + "'") +
           " --test_env=ANYRDMA_TRIAL=" + text;
  }
  return "ANYRDMA_TRIAL=" + text + " " + program_invocation_name +
         (test.empty() ? "" : " --gtest_filter='" + test + "'");
}

struct Run {
  Trial trial;
  RunPlace place;
};

/// Makes runs, in one process or many, and counts them; keeps those that go wrong, shrunk.
class Search {
 public:
  Search(const ExploreOptions& options, const Scenario& scenario)
      : options_(options), scenario_(scenario), progress_(options.progress, options.budget) {
    for (const std::string& situation : options.expected) result.situations.try_emplace(situation);
  }

  /// Makes run(0), run(1) ... and gives each that went well to `then`, in this order. False: the
  /// search is over.
  template <class MakeRun, class Then>
  [[nodiscard]] bool run(std::uint64_t count, bool want_steps, MakeRun&& make, Then&& then) {
    const std::uint64_t total = result.runs + count;
    const auto take = [&](const Run& run, Outcome&& outcome) {
      // What ends us may have struck its programs, too.
      if (!outcome.problem.empty() && is_interrupted()) return false;
      if (!note(run, outcome, total)) return false;
      if (outcome.problem.empty()) then(run, outcome);
      return !is_late() && !is_interrupted();
    };
    if (options_.jobs == 0) {
      for (std::uint64_t i = 0; i < count; ++i) {
        const Run run = make(i);
        if (!take(run, perform_at(i, run.trial))) return false;
      }
      return true;
    }
    bool goes_on = true;
    run_in_order(
        count,
        {.processes = options_.jobs,
         .processor_time = options_.patience,
         .stop = options_.interrupted},
        [&](std::uint64_t i) {
          Outcome outcome = perform_at(i, make(i).trial);
          if (!want_steps) outcome.steps.clear();
          if (outcome.problem.empty()) outcome.deviations.clear();
          return to_bytes(outcome);
        },
        [&](std::uint64_t i, const std::string& bytes, const std::string& death) {
          const Run run = make(i);
          Outcome outcome;
          if (death.empty()) {
            outcome = outcome_from(bytes);
          } else {
            outcome.problem = death + "\n";
          }
          return goes_on = take(run, std::move(outcome));
        });
    return goes_on && !is_interrupted();
  }

  /// The runs that follow are not counted, nor what goes wrong in them.
  void set_quiet(bool quiet) { quiet_ = quiet; }

  Exploration result;

 private:
  [[nodiscard]] bool is_late() {
    if (options_.budget.count() == 0 || Clock::now() - start_ < options_.budget) return false;
    return result.out_of_time = true;
  }

  [[nodiscard]] bool is_interrupted() {
    if (!options_.interrupted || !options_.interrupted()) return false;
    return result.interrupted = true;
  }

  /// False: the search is over.
  bool note(const Run& run, const Outcome& outcome, std::uint64_t total) {
    if (quiet_) return true;
    ++result.runs;
    if (result.differs.empty()) result.differs = outcome.differs;
    for (const FaultStatus& status : outcome.faults) {
      result.fired[sim::to_string(status.fault)] += status.fired != 0 ? 1 : 0;
    }
    for (const auto& [situation, occurred] : outcome.situations) {
      Sighting& sighting = result.situations[situation];
      ++sighting.looked;
      sighting.seen += occurred ? 1 : 0;
    }
    if (outcome.problem.empty()) {
      progress_.show(standing(total));
      return true;
    }
    FailureKind& kind = result.kinds[kind_of(outcome.problem)];
    ++kind.runs;
    progress_.show(standing(total));
    if (kind.runs == 1) {
      progress_.failed(run.trial.to_string(), outcome.problem);
      kind.first = explain(run.trial, outcome);
      kind.place = run.place;
      if (!result.failure) result.failure = kind.first;
    }
    return options_.keep_going;
  }

  [[nodiscard]] Standing standing(std::uint64_t total) const {
    Standing standing{.runs = result.runs, .total = total, .kinds = result.kinds.size()};
    for (const auto& [text, kind] : result.kinds) standing.failures += kind.runs;
    for (const auto& [situation, sighting] : result.situations) {
      ++standing.situations;
      standing.seen += sighting.seen != 0 ? 1 : 0;
    }
    return standing;
  }

  [[nodiscard]] Outcome perform_at(std::uint64_t i, const Trial& trial) const {
    return i < kRepeatedTrials ? perform_twice(scenario_, trial) : perform(scenario_, trial);
  }

  [[nodiscard]] Failure explain(const Trial& trial, const Outcome& outcome) const {
    if (outcome.problem.starts_with(kMood)) {  // every smaller one differs, too, or by chance
      return {.trial = trial,
              .outcome = outcome,
              .faults_found = trial.plan.faults.size(),
              .command = command_for(options_, trial)};
    }
    const auto isolated = [this](const Trial& smaller, const std::function<bool()>& stop) {
      return options_.jobs == 0 ? perform(scenario_, smaller)
                                : perform_apart(scenario_, smaller, options_.patience, stop);
    };
    const Scenario unless_interrupted = [&](const Trial& smaller) {
      const auto& interrupted = options_.interrupted;
      if (interrupted && interrupted()) return Outcome{};
      Outcome became = isolated(smaller, interrupted);
      return interrupted && interrupted() ? Outcome{} : became;
    };
    Failure failure;
    failure.faults_found = trial.plan.faults.size();
    failure.trial = shrink(unless_interrupted, trial, options_.shrink_runs_max);
    failure.outcome = isolated(failure.trial, {});
    if (failure.outcome.problem.empty()) failure.outcome.problem = kOnce + outcome.problem;
    failure.command = command_for(options_, failure.trial);
    return failure;
  }

  const ExploreOptions& options_;
  const Scenario& scenario_;
  Progress progress_;
  Clock::time_point start_ = Clock::now();
  bool quiet_ = false;
};

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
  const auto make = [&](std::uint64_t i) {
    const std::uint64_t number = options.shard + i * options.shards;
    Run run{.trial = {.seed = options.first_seed + number, .workload = options.workload},
            .place = {options.placed_max + 1, number}};
    RandomStream dice(run.trial.seed, "explore");
    run.trial.plan = draw(options, dice);
    if (!options.schedules.empty()) {
      run.trial.schedule = options.schedules[dice.below(options.schedules.size())];
    }
    return run;
  };
  return search.run(share(options, options.runs), false, make, [](const Run&, const Outcome&) {});
}

/// What $ANYRDMA_TRIAL asks for, instead of all else.
Exploration only(Search& search, const char* text) {
  const auto trial = Trial::parse(text);
  if (!trial) {
    search.result.failure.emplace().outcome.problem =
        "ANYRDMA_TRIAL is not understood: " + trial.error().to_string() + "\n";
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
    (void)host->resume().has_value();
    if (!host->running()) host->restart();
    (void)host->slow_down({});
    for (std::size_t i = 0; i < host->interfaces(); ++i) {
      carry_out(world, MendRail{.host = host->name(), .interface = host->interface_name(i)});
    }
    for (const std::string& device : host->devices()) {
      carry_out(world, PortUp{.host = host->name(), .device = device});
    }
  }
}

Exploration explore(const ExploreOptions& options, const Scenario& scenario) {
  Search search(options, scenario);
  if (const char* text = environment("ANYRDMA_TRIAL")) return only(search, text);
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
  if (const char* path = environment("TEST_SHARD_STATUS_FILE")) std::ofstream(path).put('\n');
  return options;
}

}  // namespace anyrdma::sim
