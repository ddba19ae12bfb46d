#include "sim/explore/trial.h"

#include <algorithm>
#include <charconv>

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

std::string parse_seed(std::string_view rest, Trial& trial) {
  if (parse_number(next_word(rest), trial.seed) && rest.empty()) return {};
  return "a seed is a number: seed 7";
}

std::string parse_set(std::string_view rest, Trial& trial) {
  Parameter parameter{.name = std::string(next_word(rest)), .value = 0, .least = 0};
  if (!parse_number(next_word(rest), parameter.value) || !rest.empty()) {
    return "a parameter has a name and a number: set connections 2";
  }
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
  schedule = Schedule{.slack = schedule.slack};  // the last one counts, with nothing of others
  const std::string_view policy = next_word(rest);
  if (policy == "given") {
    schedule.policy = Policy::kGiven;
    return parse_given(rest, schedule.deviations);
  }
  if (policy == "pct") {
    schedule.policy = Policy::kPct;
    if (!rest.empty() && !parse_number(next_word(rest), schedule.changes)) return "pct CHANGES";
    if (!rest.empty() && !parse_number(next_word(rest), schedule.length)) return "pct 2 LENGTH";
  } else if (policy == "random" || policy == "fifo") {
    schedule.policy = policy == "random" ? Policy::kRandom : Policy::kFifo;
  } else {
    return "no such schedule " + in_quotes(policy) + ": fifo, random, pct or given";
  }
  return rest.empty() ? std::string() : "what is " + in_quotes(rest) + "?";
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

std::string parse_part(std::string_view part, Trial& trial) {
  std::string_view rest = part;
  const std::string_view word = next_word(rest);
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

std::string Trial::to_string(std::string_view separator) const {
  std::vector<std::string> parts{"seed " + std::to_string(seed)};
  if (schedule.policy != Policy::kFifo) parts.push_back(schedule_text(schedule));
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
  while (!text.empty()) {
    ++error.line;
    const std::size_t end = std::min(text.find_first_of(";\n"), text.size());
    const std::string_view part = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (part.empty() || part.front() == '#') continue;
    error.reason = parse_part(part, trial);
    if (!error.reason.empty()) return error;
  }
  return trial;
}

}  // namespace anyrdma::sim
