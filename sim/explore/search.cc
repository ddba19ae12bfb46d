#include "sim/explore/search.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <utility>

#include "sim/explore/guide.h"
#include "sim/explore/kind.h"
#include "sim/explore/outcome_bytes.h"
#include "sim/explore/perform.h"
#include "sim/explore/run_pool.h"
#include "sim/explore/running_test.h"
#include "sim/explore/shrink.h"

namespace anyrdma::sim {
namespace {

/// How a problem begins that was there in one run of a trial, and not in the next.
constexpr std::string_view kOnce = "once, and not when it was run again:\n";

/// Trials at the beginning of a search that are run twice.
constexpr std::uint64_t kRepeatedTrials = 3;

/// Of the budget, what is for making one kind of failure smaller while the search is to go on.
constexpr int kShareOfAKind = 4;

std::string quoted_for_shell(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::string command_for(const ExploreOptions& options, const Trial& trial) {
  const std::string text = quoted_for_shell(trial.to_string());
  if (!options.command.empty()) return options.command + " " + text;
  const std::string test = running_test();
  if (const char* target = variable_that_is_set("TEST_TARGET")) {
    return std::string("bazel test ") + target +
           (test.empty() ? "" : " --test_filter='" + test + "'") +
           " --test_env=ANYRDMA_TRIAL=" + text;
  }
  return "ANYRDMA_TRIAL=" + text + " " + program_invocation_name +
         (test.empty() ? "" : " --gtest_filter='" + test + "'");
}

/// Which of them had a part in it, for people.
std::string strategies_of(const Run& run) {
  std::string text = run.origin ? "branching and " : run.changed ? "coverage and " : "";
  switch (run.trial.schedule.policy) {
    case Policy::kRandom:
      text += "random";
      break;
    case Policy::kPct:
      text += "pct";
      break;
    default:
      text += "fifo";
      break;
  }
  if (!run.trial.plan.faults.empty()) text += ", with faults";
  if (run.trial.memory.profile != MemoryProfile::kStrict)
    text += ", memory " + std::string(verbs::soft::to_string(run.trial.memory.profile));
  return text;
}

/// They are for shrinking only.
void forget_choices(Outcome& outcome) {
  outcome.deviations.clear();
  outcome.memory.clear();
  for (FaultStatus& status : outcome.faults) status.chosen.clear();
}

/// What a process has said of an earlier run is no news of a later one.
void forget_what_was_told(std::uint64_t run, Outcome& outcome, std::vector<std::uint64_t>& told) {
  std::erase_if(outcome.reached, [&](const Reached& each) {
    if (each.bit < Coverage::kMilestones) return false;
    if (told[each.bit] < run) return true;
    told[each.bit] = run;
    return false;
  });
}

}  // namespace

Search::Search(const ExploreOptions& options, const Scenario& scenario)
    : options_(options), scenario_(scenario), progress_(options.progress, options.budget) {
  for (const std::string& situation : options.expected) result.situations.try_emplace(situation);
  for (Fault fault : options.menu) {
    fault.maybe = true;
    menu_.push_back(sim::to_string(fault));
  }
  if (options.runs == 0) return;  // none is to be drawn
  for (const std::string& fault : menu_) result.fired.try_emplace(fault);
}

bool Search::run(std::uint64_t count, bool want_steps, const Make& make, const Then& then) {
  total_ = result.runs + count;
  if (options_.jobs == 0) return run_here(count, make, then);
  std::deque<Run> made;                                          // their results are not here yet
  std::vector<std::uint64_t> told(Coverage::kBits, UINT64_MAX);  // by a process: in which run first
  bool goes_on = true;
  run_in_order(
      count,
      {.processes = options_.jobs,
       .processor_time = options_.patience,
       .stop = [this] { return is_interrupted() || is_late(); },
       .window = kWindow},
      [&](std::uint64_t i) { return made.emplace_back(make(i)).trial.to_string(); },
      [&](std::uint64_t i, const std::string& trial) {
        Outcome outcome = perform_at(i, Trial::parse(trial).value());
        if (!want_steps) outcome.steps.clear();
        if (outcome.problem.empty()) forget_choices(outcome);
        forget_what_was_told(i, outcome, told);
        return to_bytes(outcome);
      },
      [&](std::uint64_t, const std::string& bytes, const std::string& death) {
        const Run run = std::move(made.front());
        made.pop_front();
        return goes_on =
                   take(run, death.empty() ? outcome_from(bytes) : outcome_of_death(death), then);
      });
  return goes_on && !is_interrupted() && !result.out_of_time;
}

bool Search::run_here(std::uint64_t count, const Make& make, const Then& then) {
  std::deque<Run> made;
  std::uint64_t asked = 0;
  for (std::uint64_t i = 0; i < count; ++i) {
    while (asked < count && asked - i < kWindow) made.push_back(make(asked++));
    const Run run = std::move(made.front());
    made.pop_front();
    if (!take(run, perform_at(i, run.trial), then)) return false;
  }
  return true;
}

bool Search::take(const Run& run, Outcome&& outcome, const Then& then) {
  // What ends us may have struck its programs, too.
  if (!outcome.problem.empty() && is_interrupted()) return false;
  const bool goes_on = note(run, outcome);
  if (guide_ != nullptr) {
    guide_->learn(run, outcome);
    result.bits = guide_->bits();
    result.last_new = guide_->last_new();
  }
  if (!goes_on) return false;
  if (outcome.problem.empty()) then(run, outcome);
  return !is_late() && !is_interrupted();
}

bool Search::is_late() {
  if (options_.budget.count() == 0 || Clock::now() - start_ < options_.budget) return false;
  return result.out_of_time = true;
}

bool Search::is_interrupted() {
  if (!options_.interrupted || !options_.interrupted()) return false;
  return result.interrupted = true;
}

Outcome Search::perform_at(std::uint64_t i, const Trial& trial) const {
  const bool covers = guide_ != nullptr && guide_->wants_coverage();
  return i < kRepeatedTrials ? perform_twice(scenario_, trial, covers)
                             : perform(scenario_, trial, covers);
}

// A scenario may have faults of its own, which come first.
void Search::count_faults(const Run& run, const Outcome& outcome) {
  std::size_t next = 0;
  const auto& plan = run.trial.plan.faults;
  for (const FaultStatus& status : outcome.faults) {
    const std::uint64_t times = status.fired != 0 ? 1 : 0;
    const bool planned = next < plan.size() && status.fault == plan[next];
    if (planned && !run.drawn.empty()) {
      result.fired[menu_[run.drawn[next]]] += times;
    } else if (!planned) {
      result.fired[sim::to_string(status.fault)] += times;
    }
    if (planned) ++next;
  }
  if (!outcome.died) return;
  for (const std::size_t each : run.drawn) ++result.fired[menu_[each]];  // as far as one knows
}

bool Search::note(const Run& run, const Outcome& outcome) {
  if (quiet_) return true;
  ++result.runs;
  if (result.differs.empty()) result.differs = outcome.differs;
  count_faults(run, outcome);
  for (const auto& [situation, occurred] : outcome.situations) {
    Sighting& sighting = result.situations[situation];
    ++sighting.looked;
    sighting.seen += occurred ? 1 : 0;
  }
  if (outcome.problem.empty()) {
    progress_.show(standing());
    return true;
  }
  if (outcome.problem.find(options_.only) == std::string::npos) {
    ++result.others[kind_of(outcome.problem)];
    progress_.show(standing());
    return true;
  }
  FailureKind& kind = result.kinds[kind_of(outcome.problem)];
  ++kind.runs;
  progress_.show(standing());
  if (kind.runs == 1) {
    progress_.failed(run.trial.to_string(), outcome.problem, strategies_of(run),
                     command_for(options_, run.trial));
    kind.first = explain(run.trial, outcome);
    kind.place = run.place;
    if (!result.failure) result.failure = kind.first;
  }
  return options_.keep_going;
}

Standing Search::standing() const {
  Standing standing{
      .runs = result.runs, .total = total_, .kinds = result.kinds.size(), .bits = result.bits};
  for (const auto& [text, kind] : result.kinds) standing.failures += kind.runs;
  for (const auto& [text, runs] : result.others) standing.others += runs;
  for (const auto& [situation, sighting] : result.situations) {
    ++standing.situations;
    standing.seen += sighting.seen != 0 ? 1 : 0;
  }
  return standing;
}

Outcome Search::isolated(const Trial& trial, const std::function<bool()>& stop) const {
  return options_.jobs == 0 ? perform(scenario_, trial)
                            : run_apart(scenario_, trial, options_.patience, stop);
}

Failure Search::explain(const Trial& trial, const Outcome& outcome) {
  Failure failure{.trial = trial, .outcome = outcome, .faults_found = trial.plan.faults.size()};
  failure.command = command_for(options_, trial);
  if (outcome.problem.starts_with(kMood)) return failure;  // smaller ones differ, too, or by chance

  const auto begin = Clock::now();
  const auto end = std::min(
      options_.budget.count() == 0 ? Clock::time_point::max() : start_ + options_.budget,
      options_.keep_going && options_.budget.count() != 0 ? begin + options_.budget / kShareOfAKind
                                                          : Clock::time_point::max());
  const auto stop = [&] { return is_interrupted() || Clock::now() >= end; };
  const Outcome again = isolated(trial, stop);
  if (kind_of(again.problem) != kind_of(outcome.problem)) {
    if (!stop()) failure.outcome.problem = std::string(kOnce) + outcome.problem;
    return failure;
  }
  const Shrunk shrunk =
      shrink([&](const Trial& smaller) { return isolated(smaller, stop); }, trial, again,
             {.runs_max = options_.shrink_runs_max,
              .stop = stop,
              .tell = [this](const Trial& smallest, std::uint64_t runs) {
                progress_.shrinks({.runs = runs,
                                   .faults = smallest.plan.faults.size(),
                                   .choices = smallest.schedule.deviations.size()});
              }});
  failure.trial = shrunk.trial;
  failure.outcome = shrunk.outcome;
  failure.command = command_for(options_, failure.trial);
  return failure;
}

}  // namespace anyrdma::sim
