#include "sim/explore/trial.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <set>
#include <utility>

#include "transport/fault/plan/scalars.h"

namespace anyrdma::sim {
namespace {

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

/// Takes the first word off.
std::string_view next_word(std::string_view& text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  const std::string_view word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

/// Of a seed that another one is to follow.
constexpr std::uint64_t kNoSeed = UINT64_MAX;

[[nodiscard]] bool lacks_a_seed(const Trial& trial) {
  const auto& branches = trial.schedule.branches;
  return !branches.empty() && branches.back().seed == kNoSeed;
}

std::string parse_seed(std::string_view rest, Trial& trial) {
  std::uint64_t seed = 0;
  if (!parse_number(next_word(rest), seed) || seed == kNoSeed) return "a seed is a number: seed 7";
  auto& branches = trial.schedule.branches;
  if (lacks_a_seed(trial)) {
    branches.back().seed = seed;
  } else if (branches.empty()) {
    trial.seed = seed;
  } else {
    return "seed " + std::to_string(seed) +
           " begins at no decision: say 'until' of the seed before";
  }
  if (rest.empty()) return {};
  Branch branch{.until = 0, .seed = kNoSeed};
  if (next_word(rest) != "until" || !parse_number(next_word(rest), branch.until) || !rest.empty())
    return "a seed is one up to a decision: seed 7 until 151; seed 80";
  if (!branches.empty() && branches.back().until >= branch.until)
    return "the decisions at which seeds begin ascend: " + std::to_string(branches.back().until) +
           ", then " + std::to_string(branch.until);
  branches.push_back(branch);
  return {};
}

std::string parse_numbers(std::string_view rest, std::vector<std::uint64_t>& numbers) {
  while (!rest.empty()) {
    std::uint64_t number = 0;
    const std::string_view word = next_word(rest);
    if (!parse_number(word, number)) return in_quotes(word) + " is no number";
    if (!numbers.empty() && numbers.back() >= number) return "the points of changes ascend";
    numbers.push_back(number);
  }
  return {};
}

std::string parse_pct(std::string_view rest, Schedule& schedule) {
  schedule.policy = Policy::kPct;
  if (!rest.empty() && !parse_number(next_word(rest), schedule.changes)) return "pct CHANGES";
  if (!rest.empty() && !parse_number(next_word(rest), schedule.length)) return "pct 2 LENGTH";
  if (rest.empty()) return {};
  if (next_word(rest) != "at" || rest.empty()) return "pct 2 200 at POINT...";
  return parse_numbers(rest, schedule.at);
}

std::string parse_set(std::string_view rest, Trial& trial) {
  Parameter parameter{.name = std::string(next_word(rest)), .value = 0, .least = 0};
  if (!parse_number(next_word(rest), parameter.value) || !rest.empty()) {
    return "a parameter has a name and a number: set connections 2";
  }
  const auto same = [&](const Parameter& each) { return each.name == parameter.name; };
  if (std::ranges::any_of(trial.workload, same))
    return "a trial sets " + in_quotes(parameter.name) + " once. Remove the other";
  trial.workload.push_back(parameter);
  return {};
}

std::string parse_slack(std::string_view rest, Trial& trial) {
  return parse_word("time", rest, trial.schedule.slack);
}

bool parse_deviation(std::string_view word, Deviation& deviation) {
  const std::size_t colon = word.find(':');
  return colon != std::string_view::npos && parse_number(word.substr(0, colon), deviation.point) &&
         parse_number(word.substr(colon + 1), deviation.choice) && deviation.choice != 0;
}

std::string parse_given(std::string_view rest, std::vector<Deviation>& deviations) {
  while (!rest.empty()) {
    const std::string_view word = next_word(rest);
    Deviation deviation;
    if (!parse_deviation(word, deviation)) {
      return "a choice is POINT:NUMBER, not " + in_quotes(word);
    }
    if (!deviations.empty() && deviations.back().point >= deviation.point) {
      return "the points of choices ascend";
    }
    deviations.push_back(deviation);
  }
  return {};
}

std::string parse_schedule(std::string_view rest, Trial& trial) {
  Schedule& schedule = trial.schedule;
  schedule = Schedule{.slack = schedule.slack, .branches = std::move(schedule.branches)};
  const std::string_view policy = next_word(rest);
  if (policy == "given") {
    schedule.policy = Policy::kGiven;
    return parse_given(rest, schedule.deviations);
  }
  if (policy == "pct") return parse_pct(rest, schedule);
  if (policy == "random" || policy == "fifo") {
    schedule.policy = policy == "random" ? Policy::kRandom : Policy::kFifo;
  } else {
    return "no such schedule " + in_quotes(policy) + ": fifo, random, pct or given";
  }
  return rest.empty() ? std::string() : in_quotes(rest) + " is not expected";
}

/// Schedules count scheduling points, and which those are changes between versions. This version's
/// are counted from 2 on: verbs calls are points.
constexpr std::string_view kScheduleWord = "schedule/2";
constexpr std::string_view kScheduleOfAnyVersion = "schedule";

std::string refuse_schedule(std::string_view word) {
  return "this trial is of another version of anyrdma: its " + in_quotes(word) +
         " counts other scheduling points than " + in_quotes(kScheduleWord) +
         " does. Search again with this version";
}

std::string parse_memory(std::string_view rest, Trial& trial) {
  trial.memory = {};
  const std::string_view name = next_word(rest);
  const auto profile = verbs::soft::memory_profile_of(name);
  if (!profile) {
    return "no such memory " + in_quotes(name) + ": strict, spec, relaxed or unordered";
  }
  trial.memory.profile = *profile;
  if (rest.empty()) return {};
  const std::string_view given = next_word(rest);
  if (given != "given") return "memory PROFILE given POINT:NUMBER..., not " + in_quotes(given);
  return parse_given(rest, trial.memory.given.emplace());
}

/// The parts of a trial that are there once at most, and that it has so far.
using Words = std::set<std::string_view>;

/// Whether the word begins another part of a kind that the trial has already. A seed may follow the
/// 'until' of the seed before.
bool is_once_too_often(std::string_view word, const Trial& trial, Words& before) {
  constexpr std::array kAtMostOnce{std::string_view("seed"), std::string_view("slack"),
                                   kScheduleWord, std::string_view("memory")};
  if (std::ranges::find(kAtMostOnce, word) == kAtMostOnce.end()) return false;
  return !before.insert(word).second && !(word == "seed" && !trial.schedule.branches.empty());
}

std::string parse_part(std::string_view part, Trial& trial, Words& before) {
  std::string_view rest = part;
  const std::string_view word = next_word(rest);
  if (is_once_too_often(word, trial, before))
    return "a trial has one " + in_quotes(word) + ". Remove the other";
  if (word == "seed") return parse_seed(rest, trial);
  if (word == "set") return parse_set(rest, trial);
  if (word == "slack") return parse_slack(rest, trial);
  if (word == kScheduleWord) return parse_schedule(rest, trial);
  if (word.starts_with(kScheduleOfAnyVersion)) return refuse_schedule(word);
  if (word == "memory") return parse_memory(rest, trial);
  const auto plan = FaultPlan::parse(part);
  if (!plan) return plan.error().reason;
  trial.plan.faults.insert(trial.plan.faults.end(), plan->faults.begin(), plan->faults.end());
  return {};
}

std::string given_text(const std::vector<Deviation>& deviations) {
  std::string text = "given";
  for (const Deviation& each : deviations) {
    text += " " + std::to_string(each.point) + ":" + std::to_string(each.choice);
  }
  return text;
}

std::string memory_text(const Memory& memory) {
  const std::string text = "memory " + std::string(verbs::soft::to_string(memory.profile));
  return memory.given ? text + " " + given_text(*memory.given) : text;
}

std::string schedule_text(const Schedule& schedule) {
  std::string text(kScheduleWord);
  text += ' ';
  switch (schedule.policy) {
    case Policy::kFifo:
      text += "fifo";
      break;
    case Policy::kRandom:
      text += "random";
      break;
    case Policy::kPct:
      text += "pct " + std::to_string(schedule.changes) + " " + std::to_string(schedule.length);
      if (!schedule.at.empty()) text += " at";
      for (const std::uint64_t point : schedule.at) text += " " + std::to_string(point);
      break;
    case Policy::kGiven:
      text += given_text(schedule.deviations);
      break;
  }
  return text;
}

}  // namespace

WorldOptions Trial::options(const WorldOptions& base) const {
  WorldOptions options = base;
  options.schedule = schedule;
  options.memory = memory;
  return options;
}

std::uint64_t Trial::size(std::string_view name, std::uint64_t otherwise) const {
  for (const Parameter& parameter : workload) {
    if (parameter.name == name) return parameter.value;
  }
  return otherwise;
}

std::string Trial::unreached(std::uint64_t choices) const {
  if (schedule.branches.empty() || schedule.branches.back().until < choices) return {};
  const Branch& last = schedule.branches.back();
  return "seed " + std::to_string(last.seed) + " begins at decision " + std::to_string(last.until) +
         ", but the run had only " + std::to_string(choices) + " decisions";
}

std::string Trial::to_string(std::string_view separator) const {
  std::vector<std::string> parts{"seed " + std::to_string(seed)};
  for (const Branch& each : schedule.branches) {
    parts.back() += " until " + std::to_string(each.until);
    parts.push_back("seed " + std::to_string(each.seed));
  }
  if (schedule.policy != Policy::kFifo || !schedule.branches.empty())
    parts.push_back(schedule_text(schedule));
  if (schedule.slack != Duration::zero()) parts.push_back("slack " + word_of(schedule.slack));
  if (memory.profile != MemoryProfile::kStrict) parts.push_back(memory_text(memory));
  for (const Parameter& each : workload) {
    parts.push_back("set " + each.name + " " + std::to_string(each.value));
  }
  for (const Fault& fault : plan.faults) parts.push_back(sim::to_string(fault));
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += separator;
    text += part;
  }
  return text;
}

PlanResult<Trial> Trial::parse(std::string_view text) {
  Trial trial;
  PlanError error;
  Words before;
  while (!text.empty()) {
    ++error.line;
    const std::size_t end = std::min(text.find_first_of(";\n"), text.size());
    const std::string_view part = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part.empty() || part.front() == '#') continue;
    error.reason = parse_part(part, trial, before);
    if (!error.reason.empty()) return error;
  }
  if (!lacks_a_seed(trial)) return trial;
  error.reason = "behind 'until " + std::to_string(trial.schedule.branches.back().until) +
                 "' a seed is missing: seed 7 until 151; seed 80";
  return error;
}

}  // namespace anyrdma::sim
