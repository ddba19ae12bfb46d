#include "sim/explore.h"

#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <string_view>
#include <utility>

#include "sim/fault_action.h"
#include "sim/host.h"
#include "sim/outcome_bytes.h"
#include "sim/random_stream.h"
#include "sim/run_pool.h"
#include "sim/text.h"
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
Outcome perform_apart(const Scenario& scenario, const Trial& trial) {
  Outcome outcome;
  run_in_order(
      1, {}, [&](std::uint64_t) { return to_bytes(perform(scenario, trial)); },
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
  if (const char* target = environment("TEST_TARGET")) {
    return std::string("bazel test ") + target + " --test_env=ANYRDMA_TRIAL=" + text;
  }
  return "ANYRDMA_TRIAL=" + text + " " + program_invocation_name;
}

/// "12345 of 100000 runs", on a terminal, ten times a second at most.
class Progress {
 public:
  explicit Progress(bool wanted) : on_(wanted && ::isatty(STDERR_FILENO) != 0) {}
  ~Progress() {
    if (shown_) std::fprintf(stderr, "\r\033[K");
  }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void show(const Exploration& result, std::uint64_t total) {
    if (!on_) return;
    const Clock::time_point now = Clock::now();
    if (shown_ && now - last_ < std::chrono::milliseconds(100)) return;
    shown_ = true;
    last_ = now;
    const double seconds = std::chrono::duration<double>(now - start_).count();
    std::fprintf(stderr, "\r\033[K%llu of %llu runs, %.0f/s, %zu kinds of failures",
                 static_cast<unsigned long long>(result.runs),
                 static_cast<unsigned long long>(total),
                 static_cast<double>(result.runs) / std::max(seconds, 0.001), result.kinds.size());
  }

 private:
  bool on_;
  bool shown_ = false;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_{};
};

/// Makes runs, in one process or many, and counts them; keeps those that go wrong, shrunk.
class Search {
 public:
  Search(const ExploreOptions& options, const Scenario& scenario)
      : options_(options), scenario_(scenario), progress_(options.progress) {
    for (const std::string& situation : options.expected) result.situations.try_emplace(situation);
  }

  /// Makes trial(0), trial(1) ... and gives each that went well to `then`, in this order. False:
  /// the search is over.
  template <class MakeTrial, class Then>
  [[nodiscard]] bool run(std::uint64_t count, bool want_steps, MakeTrial&& make, Then&& then) {
    const auto take = [&](std::uint64_t i, const Trial& trial, Outcome&& outcome) {
      if (!note(trial, outcome, count)) return false;
      if (outcome.problem.empty()) then(i, trial, outcome);
      return !is_late();
    };
    if (options_.jobs == 0) {
      for (std::uint64_t i = 0; i < count; ++i) {
        const Trial trial = make(i);
        if (!take(i, trial, perform_at(i, trial))) return false;
      }
      return true;
    }
    bool goes_on = true;
    run_in_order(
        count, {.processes = options_.jobs},
        [&](std::uint64_t i) {
          Outcome outcome = perform_at(i, make(i));
          if (!want_steps) outcome.steps.clear();
          if (outcome.problem.empty()) outcome.deviations.clear();
          return to_bytes(outcome);
        },
        [&](std::uint64_t i, const std::string& bytes, const std::string& death) {
          const Trial trial = make(i);
          Outcome outcome;
          if (death.empty()) {
            outcome = outcome_from(bytes);
          } else {
            outcome.problem = death + "\n";
          }
          return goes_on = take(i, trial, std::move(outcome));
        });
    return goes_on;
  }

  Exploration result;

 private:
  [[nodiscard]] bool is_late() {
    if (options_.budget.count() == 0 || Clock::now() - start_ < options_.budget) return false;
    return result.out_of_time = true;
  }

  /// False: the search is over.
  bool note(const Trial& trial, const Outcome& outcome, std::uint64_t total) {
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
    progress_.show(result, total);
    if (outcome.problem.empty()) return true;
    FailureKind& kind = result.kinds[kind_of(outcome.problem)];
    if (++kind.runs == 1) {
      kind.first = explain(trial, outcome);
      if (!result.failure) result.failure = kind.first;
    }
    return options_.keep_going;
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
    const Scenario isolated = [this](const Trial& smaller) {
      return options_.jobs == 0 ? perform(scenario_, smaller) : perform_apart(scenario_, smaller);
    };
    Failure failure;
    failure.faults_found = trial.plan.faults.size();
    failure.trial = shrink(isolated, trial, options_.shrink_runs_max);
    failure.outcome = isolated(failure.trial);
    failure.command = command_for(options_, failure.trial);
    return failure;
  }

  const ExploreOptions& options_;
  const Scenario& scenario_;
  Progress progress_;
  Clock::time_point start_ = Clock::now();
};

/// A run that went well, to which faults can be added at or behind `from`.
struct Survivor {
  FaultPlan plan;
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
  [[nodiscard]] FaultPlan plan(std::uint64_t index) const {
    const auto end = std::upper_bound(ends_.begin(), ends_.end(), index);
    const auto which = static_cast<std::size_t>(end - ends_.begin());
    const std::uint64_t within = index - (which == 0 ? 0 : ends_[which - 1]);
    FaultPlan plan = survivors_[which].plan;
    const verbs::Duration step = survivors_[which].steps[within / actions_.size()];
    plan.faults.push_back({AtTime{step}, actions_[within % actions_.size()], true});
    return plan;
  }

 private:
  const std::vector<Survivor>& survivors_;
  const std::vector<FaultAction>& actions_;
  std::vector<std::uint64_t> ends_;
};

/// False: the search is over.
bool place(Search& search, const ExploreOptions& options) {
  const auto trial_of = [&](const FaultPlan& plan) {
    return Trial{.seed = options.first_seed, .plan = plan, .workload = options.workload};
  };
  std::vector<Survivor> survivors;
  const auto keep = [&survivors](std::uint64_t, const Trial& trial, const Outcome& outcome) {
    const auto& faults = trial.plan.faults;
    const auto from =
        faults.empty() ? verbs::Duration::zero() : std::get<AtTime>(faults.back().trigger).time;
    survivors.push_back({trial.plan, from_on(outcome.steps, from)});
  };
  if (!search.run(
          1, true, [&](std::uint64_t) { return trial_of({}); }, keep)) {
    return false;
  }
  std::uint64_t left = options.placed_runs_max;
  for (std::size_t faults = 1; faults <= options.placed_max; ++faults) {
    const std::vector<Survivor> parents = std::exchange(survivors, {});
    const Placements placements(parents, options.placed);
    const std::uint64_t first = faults == 1 ? options.shard : 0;  // the next are of this shard
    const std::uint64_t stride = faults == 1 ? options.shards : 1;
    const std::uint64_t all = placements.count();
    const std::uint64_t count = std::min(left, all > first ? (all - first - 1) / stride + 1 : 0);
    left -= count;
    const bool again = faults < options.placed_max;
    const auto make = [&](std::uint64_t i) {
      return trial_of(placements.plan(first + i * stride));
    };
    const auto then = [&](std::uint64_t i, const Trial& trial, const Outcome& outcome) {
      if (again) keep(i, trial, outcome);
    };
    if (!search.run(count, again, make, then)) return false;
  }
  return true;
}

bool sample(Search& search, const ExploreOptions& options) {
  const std::uint64_t all = options.runs;
  const std::uint64_t count =
      all > options.shard ? (all - options.shard - 1) / options.shards + 1 : 0;
  const auto make = [&](std::uint64_t i) {
    Trial trial{.seed = options.first_seed + options.shard + i * options.shards,
                .workload = options.workload};
    RandomStream dice(trial.seed, "explore");
    trial.plan = draw(options, dice);
    if (!options.schedules.empty()) {
      trial.schedule = options.schedules[dice.below(options.schedules.size())];
    }
    return trial;
  };
  return search.run(count, false, make, [](std::uint64_t, const Trial&, const Outcome&) {});
}

/// What $ANYRDMA_TRIAL asks for, instead of all else.
Exploration only(Search& search, const char* text) {
  const auto trial = Trial::parse(text);
  if (!trial) {
    search.result.failure.emplace().outcome.problem =
        "ANYRDMA_TRIAL is not understood: " + trial.error().to_string() + "\n";
  } else {
    (void)search.run(
        1, false, [&](std::uint64_t) { return *trial; },
        [](std::uint64_t, const Trial&, const Outcome&) {});
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
