#include "tools/explore.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <thread>

#include "base/printable.h"
#include "base/text.h"
#include "sim/fault_plan.h"
#include "sim/machines/machines.h"
#include "sim/scenarios/scenarios.h"
#include "sim/scenarios/watch.h"
#include "sim/trace/hash.h"
#include "sim/world.h"
#include "tools/bundle/archive.h"
#include "tools/ci_report.h"
#include "tools/debugging.h"
#include "tools/interruption.h"
#include "tools/memory_option.h"
#include "tools/replay_programs.h"
#include "tools/report.h"
#include "tools/scenario_file.h"
#include "tools/shard.h"
#include "tools/sim.h"
#include "tools/simulation.h"
#include "tools/standard_menu.h"
#include "tools/start.h"
#include "tools/text_file.h"
#include "transport/fault/plan/scalars.h"
#include "verbs/version.h"

namespace anyrdma::tools {
namespace {

using namespace std::chrono_literals;
using sim::scenarios::Standard;

/// Of a processor.
constexpr std::chrono::nanoseconds kRecordingPatience = 60s;
constexpr std::uint64_t kSeeds = 1000;
/// More than any budget has room for.
constexpr std::uint64_t kSeedsInBudget = 1'000'000'000;
/// How long a program may be kept waiting in one run, and in another: as by an interrupt, and as on
/// a busy machine, where others get through a handshake meanwhile.
constexpr std::array<verbs::Duration, 2> kDelays{10us, 1ms};
/// Each takes a tenth of a second or more.
constexpr std::uint64_t kShrinkRunsOfPrograms = 100;

std::string names() {
  std::string names;
  for (const Standard& each : sim::scenarios::standard()) {
    names += (names.empty() ? "" : ", ") + std::string(each.name);
  }
  return names;
}

/// A scenario of programs in a file is to explore what a standard one is.
struct FileScenario {
  ProgramScenario programs;
  std::optional<sim::Premises> premises;
  std::string name;
  Standard standard;
};

sim::Outcome run_programs(FileScenario& file, const sim::Trial& trial,
                          const sim::scenarios::Staging& staging) {
  // Who is to be shown the run looks for a cause; exploring only tells failures apart.
  const bool shown = staging.tracing == sim::Tracing::kKeep;
  Simulation simulation(file.programs, trial,
                        {.trace = shown,
                         .record = staging.record,
                         .program = "anyrdma explore " + file.name,
                         .command = staging.command,
                         .check_menu = staging.rehearsal,
                         .stacks = shown || !staging.record.empty(),
                         .verify = true,
                         .interrupted = Interruption::came,
                         .premises = &*file.premises});
  const bool built = simulation.build() == Exit::kOk;
  if (!built || staging.rehearsal)
    return {.problem = built ? "" : "the programs could not be started\n"};
  sim::Outcome outcome = simulation.run();
  if (staging.trace != nullptr) *staging.trace = simulation.world().trace().text();
  outcome.problem += simulation.verify(outcome.problem);
  return outcome;
}

/// When something happens in a run without faults, and when that ends, or the time is up; none: it
/// cannot begin, of which is said why when it is to.
struct Course {
  std::vector<verbs::Duration> moments;
  verbs::Duration end{};

  /// In which most of it happens.
  [[nodiscard]] verbs::Duration busy() const {
    if (moments.empty()) return {};
    constexpr std::size_t kOutside = 20;  // one in so many, at either end
    const std::size_t out = moments.size() / kOutside;
    return moments[moments.size() - 1 - out] - moments[out];
  }
};

Course course_of(FileScenario& file, std::chrono::steady_clock::time_point until) {
  const sim::Trial plain;
  const auto interrupted = [until] {
    return Interruption::came() || std::chrono::steady_clock::now() > until;
  };
  Simulation simulation(file.programs, plain,
                        {.trace = true, .interrupted = interrupted, .premises = &*file.premises});
  if (simulation.build() != Exit::kOk) return {};
  (void)simulation.run();
  const sim::World& world = simulation.world();
  Course course{.moments = {}, .end = world.now().time_since_epoch()};
  course.moments.reserve(world.trace().size());
  for (std::size_t i = 0; i < world.trace().size(); ++i)
    course.moments.push_back(world.trace().record(i).time.time_since_epoch());
  return course;
}

/// One per call of the command.
FileScenario& the_file() {
  static FileScenario file;
  return file;
}

/// Null: it is none, which has been said.
const Standard* read_or_say(const std::string& path) {
  FileScenario& file = the_file();
  auto read = read_scenario(path);
  if (!read) {
    say(read.error().sentence);
    return nullptr;
  }
  file.programs = std::move(*read);
  file.premises.emplace();
  file.name = path;
  file.standard = {.name = file.name,
                   .what = "programs",
                   .menu = file.programs.menu,
                   .placed = "",
                   .sizes = {},
                   .run = [](const sim::Trial& trial, const sim::scenarios::Staging& staging) {
                     return run_programs(the_file(), trial, staging);
                   }};
  return &file.standard;
}

const Standard* find_or_say(const std::string& name) {
  const Standard* found = sim::scenarios::find(name);
  if (found == nullptr && std::filesystem::exists(name)) return read_or_say(name);
  if (found == nullptr)
    say("there is no scenario file and no built-in scenario '" + name +
        "'. Built-in scenarios: " + names() + ".");
  return found;
}

bool is_programs(const Standard& standard) {
  return sim::scenarios::find(standard.name) == nullptr;
}

void list() {
  for (const Standard& each : sim::scenarios::standard()) {
    std::string sizes;
    for (const sim::Parameter& size : each.sizes) {
      sizes += " " + size.name + "=" + std::to_string(size.value);
    }
    std::printf("%-10.*s %.*s (%s)\n", static_cast<int>(each.name.size()), each.name.data(),
                static_cast<int>(each.what.size()), each.what.data(), sizes.c_str() + 1);
  }
}

/// What the words of a command mean for one scenario; each part says what is wrong with its word.
class Request {
 public:
  Request(const ExploreCommand& command, const Standard& standard)
      : command_(command), standard_(standard) {}

  /// False: it has said why not.
  [[nodiscard]] bool make() {
    options.first_seed = command_.first_seed;
    options.runs = command_.seeds.value_or(command_.budget.empty() ? kSeeds : kSeedsInBudget);
    options.faults_max = command_.faults_max;
    options.placed_max = command_.steps;
    options.workload = standard_.sizes;
    options.keep_going = command_.keep_going;
    options.only = command_.only;
    options.jobs =
        command_.jobs != 0 ? command_.jobs : std::max(std::thread::hardware_concurrency(), 1u);
    options.progress = true;
    options.interrupted = Interruption::came;
    if (is_programs(standard_)) {
      options.shrink_runs_max = kShrinkRunsOfPrograms;
      // Their own time is watched by the run itself; this is what watching them costs.
      options.patience = std::max(options.patience, the_file().programs.patience);
    }
    options.command = std::string("anyrdma replay ") + (command_.strict ? "--strict " : "") +
                      (command_.buffered ? "--buffered " : "") + std::string(standard_.name);
    if (command_.steps != 0) {
      for (const sim::Fault& fault : sim::FaultPlan::parse(standard_.placed).value().faults) {
        options.placed.push_back(fault.action);
      }
    }
    return take_budget() && take_menu() && take_memories() && take_schedule() && take_sizes();
  }

  /// All options that decide which runs a search makes.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> description() const {
    std::vector<std::pair<std::string, std::string>> all;
    const auto add = [&](const std::string& name, const std::string& value) {
      all.emplace_back(name, value);
    };
    const auto number = [](std::uint64_t value) { return std::to_string(value); };
    if (is_programs(standard_)) add("content", content_hash());
    add("seeds", number(options.runs) + " from " + number(options.first_seed));
    add("faults", hash_of(sim::FaultPlan{options.menu}.to_string()) + ", in a run " +
                      number(options.faults_max));
    add("steps", number(command_.steps));
    for (const sim::Schedule& schedule : options.schedules) {
      const std::string text = sim::Trial{.schedule = schedule}.to_string();
      add("order",
          text.find("; ") == std::string::npos ? "fifo" : text.substr(text.find("; ") + 2));
    }
    for (const sim::MemoryProfile memory : options.memories)
      add("memory", std::string(verbs::soft::to_string(memory)));
    if (options.branching) add("learns", "where to branch off");
    if (options.feedback) add("learns", "what to change");
    for (const sim::Parameter& size : options.workload)
      add("set", size.name + " " + number(size.value));
    add("keep-going", options.keep_going ? "yes" : "no");
    if (!options.only.empty()) add("only", options.only);
    return all;
  }

  sim::ExploreOptions options;

 private:
  [[nodiscard]] std::string content_hash() const {
    const auto text = read_text_file("the scenario file", command_.scenario);
    return hash_of(text ? *text : std::string());
  }

  static std::string hash_of(std::string_view text) {
    std::string hash;
    anyrdma::append(hash, "0x%016llx", static_cast<unsigned long long>(sim::hash_text(text)));
    return hash;
  }

  /// Of all that is done before the search.
  [[nodiscard]] std::chrono::steady_clock::time_point deadline() const {
    using Clock = std::chrono::steady_clock;
    return options.budget > 0ns ? Clock::now() + options.budget : Clock::time_point::max();
  }

  bool take_menu() {
    if (command_.faults == "none") return true;
    std::string text(standard_.menu);
    if (command_.faults != "standard") {
      const auto file = read_text_file("the fault plan", command_.faults);
      if (!file) {
        say(file.error().sentence + " --faults takes a file, standard or none.");
        return false;
      }
      text = *file;
    }
    if (command_.faults == "standard" && is_programs(standard_)) {
      Course course = course_of(the_file(), deadline());
      text += standard_menu(the_file().programs, course.end, course.busy());
      options.moments = std::move(course.moments);
    }
    const auto plan = sim::parse_either(text);
    if (!plan) {
      const bool own = command_.faults == "standard";
      say((own ? std::string(standard_.name) : command_.faults) + ": " + plan.error().to_string() +
          ".");
      return false;
    }
    options.menu = plan->faults;
    return true;
  }

  bool take_memories() {
    const std::string& named = command_.memory.empty() && is_programs(standard_)
                                   ? the_file().programs.memory
                                   : command_.memory;
    sim::Memory memory;
    if (!take_memory(named, memory)) return false;
    options.memories = {memory.profile};
    if (named.empty()) options.memories.push_back(sim::MemoryProfile::kSpec);
    return true;
  }

  bool take_schedule() {
    const std::string& name = command_.schedule;
    const bool mixed = name == "mixed";
    const bool guided = name == "branching" || name == "coverage";
    sim::Schedule random{.policy = sim::Policy::kRandom};
    sim::Schedule pct{.policy = sim::Policy::kPct, .changes = 3, .slack = kDelays.front()};
    if (is_programs(standard_) && (name == "pct" || mixed || guided))
      pct.length = count_choices(pct);
    for (const verbs::Duration delay : kDelays) {
      random.slack = pct.slack = delay;
      if (name == "random" || mixed || guided) options.schedules.push_back(random);
      if (name == "pct" || mixed || guided) options.schedules.push_back(pct);
    }
    if (name == "fifo" || mixed) options.schedules.emplace_back();
    // What runs learn from each other is no shard's alone: of standard scenarios, shards add up.
    options.branching = name == "branching" || (mixed && is_programs(standard_));
    options.feedback = name == "coverage" || (mixed && is_programs(standard_));
    if (!options.schedules.empty()) return true;
    say("there is no schedule '" + name +
        "'. Schedules: fifo, random, pct, branching, coverage, mixed.");
    return false;
  }

  /// How long programs run differs by orders of magnitude; changes are to come anywhere in them.
  [[nodiscard]] std::uint32_t count_choices(const sim::Schedule& like) const {
    sim::Trial trial{.seed = command_.first_seed};
    trial.schedule = {.policy = sim::Policy::kGiven, .slack = like.slack};
    const std::uint64_t choices = sim::run_apart(
                                      [this](const sim::Trial& one) {
                                        return standard_.run(one, {.tracing = sim::Tracing::kHash});
                                      },
                                      trial, options.patience, options.interrupted)
                                      .choices;
    return static_cast<std::uint32_t>(std::clamp<std::uint64_t>(choices, like.length, UINT32_MAX));
  }

  bool take_budget() {
    if (command_.budget.empty()) return true;
    verbs::Duration budget{};
    const std::string problem = fault::parse_word("budget", command_.budget, budget);
    options.budget = budget;
    if (!problem.empty() || budget <= verbs::Duration::zero()) {
      say("--budget '" + command_.budget + "' is no time. Write a time such as 60s.");
      return false;
    }
    return true;
  }

  bool take_sizes() {
    for (const std::string& word : command_.sizes) {
      const std::size_t sign = word.find('=');
      const std::string name = word.substr(0, sign);
      const auto found =
          std::find_if(options.workload.begin(), options.workload.end(),
                       [&](const sim::Parameter& each) { return each.name == name; });
      if (found == options.workload.end() || sign == std::string::npos ||
          !fault::parse_number(std::string_view(word).substr(sign + 1), found->value)) {
        say("--set '" + word + "' sets no size of the scenario " + std::string(standard_.name) +
            ". `anyrdma explore` lists its sizes.");
        return false;
      }
    }
    return true;
  }

  const ExploreCommand& command_;
  const Standard& standard_;
};

/// A plan that names a host nobody has, or a program that is not there, is no failure of what is
/// explored. False: it has said what is wrong.
bool can_begin(const Standard& standard, const sim::Trial& trial) {
  std::string problem = standard.run(trial, {.rehearsal = true}).problem;
  if (problem.empty()) return true;
  problem.pop_back();
  if (!is_programs(standard)) say(problem + ".");
  return false;
}

/// Null, after a sentence: it is not known which.
std::optional<Shard> shard_or_say(const ExploreCommand& command) {
  const auto shard = choose_shard(command.shard, command.shards, ::getenv);
  if (!shard) {
    say(shard.error().sentence);
    return std::nullopt;
  }
  if (shard->source.empty()) return *shard;
  say("shard " + std::to_string(shard->index) + " of " + std::to_string(shard->count) +
      ", counted from 0, as " + shard->source + " says.");
  const char* const status = ::getenv("TEST_SHARD_STATUS_FILE");  // Bazel checks that it exists
  if (status != nullptr && *status != '\0') std::ofstream(status).put('\n');
  return *shard;
}

/// By the command that repeats the run: searches that go on at once do not write over what is not
/// theirs, and the same run is written to the same file.
std::string recording_path(const ExploreCommand& command, const Standard& standard,
                           const sim::Failure& failure) {
  const char* const outputs = ::getenv("TEST_UNDECLARED_OUTPUTS_DIR");
  std::filesystem::path directory = command.record;
  if (directory.empty() && outputs != nullptr) directory = outputs;
  if (directory.empty()) directory = command.results;
  std::string name = std::filesystem::path(standard.name).stem();
  anyrdma::append(name, ".%llu.%08llx.recording",
                  static_cast<unsigned long long>(failure.trial.seed),
                  static_cast<unsigned long long>(sim::hash_text(failure.command) & 0xffffffff));
  return directory / name;
}

/// The failure once more, with a recording: in a process of its own, as it may crash or never end.
/// What was recorded by then is in the file.
std::string record(const ExploreCommand& command, const Standard& standard,
                   const sim::Failure& failure) {
  const std::string path = recording_path(command, standard, failure);
  const std::string draft = path + "." + std::to_string(::getpid());
  std::fflush(nullptr);
  const sim::Outcome outcome = sim::run_apart(
      [&](const sim::Trial& trial) {
        return standard.run(
            trial, {.tracing = sim::Tracing::kHash, .record = draft, .command = failure.command});
      },
      failure.trial, kRecordingPatience, Interruption::came);
  std::error_code none;
  std::filesystem::rename(draft, path, none);
  if (none) return "";
  say("the failing run is recorded in '" + path + "'. To read it: anyrdma trace summary " + path);
  if (outcome.died || outcome.trace_hash == failure.outcome.trace_hash) return path;
  say("two runs of this trial differ, so the recording is not of the run that is reported. "
      "A program does something irreproducible: --strict says what.");
  return path;
}

/// Since when a budget is used, and who is to have a part of what is left of it.
struct Budgeting {
  std::chrono::steady_clock::time_point begin;
  std::size_t sharers;

  [[nodiscard]] std::chrono::nanoseconds part_of(std::chrono::nanoseconds budget) const {
    if (budget <= 0ns) return budget;  // there is none
    const auto spent = std::chrono::steady_clock::now() - begin;
    return std::max<std::chrono::nanoseconds>((budget - spent) / sharers, 1ns);
  }
};

Exit explore_one(const ExploreCommand& command, const Standard& standard, const Shard& shard,
                 const Budgeting& budgeting, CiReports& reports) {
  Request request(command, standard);
  if (!request.make()) return Exit::kUsage;
  request.options.budget = budgeting.part_of(request.options.budget);
  if (!can_begin(standard, {.seed = command.first_seed, .plan = {request.options.menu}}))
    return Exit::kUsage;
  request.options.shard = shard.index;
  request.options.shards = shard.count;
  sim::scenarios::watch();
  const auto start = std::chrono::steady_clock::now();
  const auto tracing = command.steps != 0 ? sim::Tracing::kKeep : sim::Tracing::kHash;
  sim::Results results{.shards = shard.count,
                       .shard = shard.index,
                       .writer = std::string("anyrdma ") + verbs::kVersion,
                       .scenario = std::string(standard.name),
                       .options = request.description()};
  results.found = sim::explore(request.options, [&](const sim::Trial& trial) {
    return standard.run(trial, {.tracing = tracing});
  });
  const auto took = std::chrono::steady_clock::now() - start;
  results.milliseconds = static_cast<std::uint64_t>(took / 1ms);
  print(results);
  std::fflush(stdout);
  std::string recording;
  if (results.found.failure) recording = record(command, standard, *results.found.failure);
  const bool reported =
      !reports.wanted() || reports.add(report_of(results, "anyrdma explore", recording));
  const bool written = command.results.empty() || write(results, command.results);
  const bool all_seen = !command.must_see || results.found.never_seen().empty();
  if (!all_seen) say("--must-see: some marked situations never occurred. They are listed above.");
  const bool well = !results.found.failure && all_seen && written && reported;
  return well ? Exit::kOk : Exit::kFailed;
}

/// One after the other, until one is refused or the user interrupts. The budget is for all
/// together: each gets its part of what those before it have left.
Exit explore_all(const ExploreCommand& command, const std::vector<const Standard*>& scenarios,
                 const Shard& shard) {
  CiReports reports(command.junit);
  if (!reports.usable()) return Exit::kUsage;
  const Interruption interruption;
  const auto begin = std::chrono::steady_clock::now();
  Exit worst = Exit::kOk;
  for (std::size_t i = 0; i < scenarios.size(); ++i) {
    const Exit exit = explore_one(command, *scenarios[i], shard,
                                  {.begin = begin, .sharers = scenarios.size() - i}, reports);
    if (Interruption::came()) {
      the_file().premises.reset();
      Interruption::end();
    }
    if (exit == Exit::kUsage) return exit;
    if (exit != Exit::kOk) worst = exit;
  }
  return worst;
}

}  // namespace

Exit explore(const ExploreCommand& command) {
  if (command.scenario.empty()) {
    list();
    return Exit::kOk;
  }
  std::vector<const Standard*> scenarios;
  if (command.scenario == "all") {
    for (const Standard& each : sim::scenarios::standard()) scenarios.push_back(&each);
  } else {
    scenarios.push_back(find_or_say(command.scenario));
    the_file().programs.strict |= command.strict;
    the_file().programs.buffered |= command.buffered;
  }
  if (scenarios.front() == nullptr) return Exit::kUsage;
  const auto shard = shard_or_say(command);
  if (!shard) return Exit::kUsage;
  if (!command.results.empty() && !prepare_directory(command.results)) return Exit::kUsage;
  return explore_all(command, scenarios, *shard);
}

namespace {

Exit replay_built_in(const ReplayCommand& command, const Standard& standard) {
  if (command.gdb || !command.cores.empty() || !command.bundle.empty()) {
    say("a built-in scenario has no programs that gdb could debug or a bundle could have: it needs "
        "a "
        "scenario file.");
    return Exit::kUsage;
  }
  auto trial = sim::Trial::parse(command.trial);
  if (!trial) {
    say("the trial is invalid: " + trial.error().to_string() + ".");
    return Exit::kUsage;
  }
  CiReports reports(command.junit);
  if (!take_memory(command.memory, trial->memory) || !reports.usable() ||
      !can_begin(standard, *trial))
    return Exit::kUsage;
  const auto begin = std::chrono::steady_clock::now();
  sim::scenarios::watch();
  std::string trace;
  const sim::Findings findings;
  const sim::Outcome outcome = standard.run(*trial, {.tracing = sim::Tracing::kKeep,
                                                     .trace = command.trace ? &trace : nullptr,
                                                     .record = command.record,
                                                     .command = command.command});
  if (const std::string none = trial->unreached(outcome.choices); !none.empty()) {
    say("the trial does not belong to this scenario: " + none + ".");
    return Exit::kUsage;
  }
  const std::string problem = outcome.problem + findings.problems();
  std::printf("%strace hash 0x%016llx\n", printable(trace).c_str(),
              static_cast<unsigned long long>(outcome.trace_hash));
  for (const sim::FaultStatus& status : outcome.faults)
    std::printf("%s\n", status.to_string().c_str());
  std::printf("%s", problem.empty() ? "the run succeeded\n" : printable(problem).c_str());
  std::fflush(stdout);
  const auto took = std::chrono::steady_clock::now() - begin;
  ScenarioReport report{.command = "anyrdma replay",
                        .scenario = command.scenario,
                        .sentence = trial->to_string("; "),
                        .seconds = std::chrono::duration<double>(took).count()};
  if (!problem.empty()) {
    report.failures.push_back({.name = report.sentence,
                               .problem = problem,
                               .again = command.command,
                               .recording = command.record});
    for (const sim::FaultStatus& status : outcome.faults)
      report.failures.back().faults.push_back(status.to_string());
  }
  const bool reported = !reports.wanted() || reports.add(std::move(report));
  return problem.empty() && reported ? Exit::kOk : Exit::kFailed;
}

}  // namespace

Exit replay(const ReplayCommand& command) {
  const bool is_bundle = is_archive(command.scenario);
  const Standard* const standard = is_bundle ? nullptr : find_or_say(command.scenario);
  if (standard == nullptr && !is_bundle) return Exit::kUsage;
  if (is_bundle && !command.trial.empty()) {
    say("a bundle has its own trial. Leave the trial out.");
    return Exit::kUsage;
  }
  if (!is_bundle && command.trial.find_first_not_of(" \t\r\n;") == std::string::npos) {
    say("the trial is empty: TRIAL is required. Give the one that explore printed, such as "
        "'seed 7'.");
    return Exit::kUsage;
  }
  if (is_bundle) return replay_bundle(command);
  if (is_programs(*standard)) return replay_programs(command);
  return replay_built_in(command, *standard);
}

}  // namespace anyrdma::tools
