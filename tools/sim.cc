#include "tools/sim.h"

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <fstream>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "base/printable.h"
#include "base/text.h"
#include "sim/debug/cluster/destination.h"
#include "sim/findings.h"
#include "sim/machines/machines.h"
#include "sim/machines/run_directory.h"
#include "sim/scenarios/watch.h"
#include "sim/world.h"
#include "tools/bundle.h"
#include "tools/ci_report.h"
#include "tools/debugging.h"
#include "tools/host_lines.h"
#include "tools/interruption.h"
#include "tools/memory_option.h"
#include "tools/scenario_file.h"
#include "tools/simulation.h"
#include "tools/start.h"
#include "tools/text_file.h"
#include "tools/words.h"
#include "transport/fault/plan/scalars.h"

namespace anyrdma::tools {
namespace {

bool write_capture(const std::string& path, const sim::World& world) {
  const std::vector<std::uint8_t> bytes = world.capture();
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  if (file.flush()) return true;
  say("the capture '" + path + "' cannot be written. Check the path.");
  return false;
}

/// Reads a plan, text or JSON. False: it is invalid; the reason is on stderr.
bool take_faults(const std::string& path, ProgramScenario& scenario) {
  const auto text = read_text_file("the fault plan", path);
  if (!text) {
    say(text.error().sentence);
    return false;
  }
  auto plan = sim::parse_either(*text);
  if (plan) {
    scenario.plan = std::move(*plan);
    return true;
  }
  say("the fault plan: " + path + ": " + plan.error().to_string() + ".");
  return false;
}

/// "HOST=VALUE" as the scenario file has it, "HOST VALUE". Empty: one of the two is missing.
std::string as_line(std::string option) {
  const std::size_t equals = option.find('=');
  if (equals == 0 || equals == option.size() - 1) return {};
  if (equals != std::string::npos) option[equals] = ' ';
  return option;
}

/// Takes the options about the directories, the memory and the hardware of hosts.
bool take_surroundings(const SimOptions& options, ProgramScenario& scenario) {
  const auto taken = [](const std::string& option, const std::string& problem) {
    if (!problem.empty()) say("--" + option + " is invalid: " + problem + ".");
    return problem.empty();
  };
  for (const std::string& path : options.shared) {
    if (!taken("share " + path, take_common("share", path, scenario))) return false;
  }
  for (const std::string& path : options.kept) {
    if (!taken("keep " + path, take_common("keep", path, scenario))) return false;
  }
  constexpr std::array<const char*, 3> kHardware{"processors", "ram", "kernel"};
  for (std::size_t i = 0; i < kHardware.size(); ++i) {
    for (const std::string& text : options.hardware[i]) {
      const std::string option = std::string(kHardware[i]) + " " + text;
      if (!taken(option, take_host_line(kHardware[i], as_line(text), "--" + option, scenario)))
        return false;
    }
  }
  return options.huge_pages.empty() ||
         taken("hugepages " + options.huge_pages, take_huge_pages(options.huge_pages, scenario));
}

/// What the command line says, in addition to the file if it names one.
std::optional<ProgramScenario> scenario_of(const SimOptions& options) {
  ProgramScenario scenario;
  if (!options.file.empty()) {
    auto read = read_scenario(options.file);
    if (!read) {
      say(read.error().sentence);
      return std::nullopt;
    }
    scenario = std::move(*read);
  }
  for (const std::string& text : options.hosts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      say("--host " + text + " is invalid. Write NAME=ADDRESS, as in server=10.0.0.1.");
      return std::nullopt;
    }
    scenario.hosts.push_back(
        {text.substr(0, equals), split(text.substr(equals + 1), ','), "--host " + text});
  }
  for (const auto& [host, command] : options.programs)
    scenario.programs.push_back({host, command, "--on " + host});
  for (const auto& [host, command] : options.background)
    scenario.background.push_back({host, command, "--background " + host});
  if (!options.faults.empty() && !take_faults(options.faults, scenario)) return std::nullopt;
  if (!take_surroundings(options, scenario)) return std::nullopt;
  if (!options.limit.empty() && !take_limit(options.limit, scenario)) {
    say("--limit '" + options.limit + "' is no time. Write a time such as 10s.");
    return std::nullopt;
  }
  if (!options.patience.empty() && !take_patience(options.patience, scenario)) {
    say("--patience '" + options.patience + "' is no time. Write a time such as 10s.");
    return std::nullopt;
  }
  if (options.from != nullptr) {
    scenario.copies = options.from->programs();
    scenario.input = options.from->input();
  }
  scenario.strict |= options.strict;
  scenario.buffered |= options.buffered;
  if (options.times && options.output.empty()) {
    say("--times needs --output: the terminal has the times anyway.");
    return std::nullopt;
  }
  if (!scenario.hosts.empty() && !scenario.programs.empty()) return scenario;
  say("sim needs hosts and programs: anyrdma sim --host server=10.0.0.1 --host client=10.0.0.2 "
      "--on server "
      "'COMMAND' "
      "--on client 'COMMAND', or a scenario file (`anyrdma help scenario`).");
  return std::nullopt;
}

/// A trial says of memory what it says, whatever the file does.
std::optional<sim::Trial> trial_of(const SimOptions& options, const std::string& memory) {
  sim::Trial drawn{.seed = options.seed};
  const bool known = take_memory(options.trial.empty() ? memory : "", drawn.memory);
  auto trial =
      options.trial.empty() ? sim::PlanResult<sim::Trial>(drawn) : sim::Trial::parse(options.trial);
  if (!known || (trial && !take_memory(options.memory, trial->memory))) return std::nullopt;
  if (trial) return std::move(*trial);
  say("the trial is invalid: " + trial.error().to_string() + ".");
  return std::nullopt;
}

/// Nothing: it stays what it is.
bool read_time(const std::string& option, const std::string& text, verbs::Duration& time) {
  if (text.empty()) return true;
  const std::string problem = fault::parse_word(option, text, time);
  if (problem.empty() && time > verbs::Duration::zero()) return true;
  say("--" + option + " '" + text + "' is no time. Write a time such as 10s or 5us.");
  return false;
}

bool take_destination(const SimOptions& options) {
  if (options.gdb && !options.bundle.empty()) {
    say("--bundle is not for --gdb, which may change the run. Leave one of the two out.");
    return false;
  }
  if (options.gdb && !options.cores.empty()) {
    say("--core is not for --gdb, which sees the programs themselves. Leave one of the two out.");
    return false;
  }
  if (options.destination.empty()) return true;
  if (!options.gdb) {
    say("--goto needs --gdb: it says where gdb stops the run.");
    return false;
  }
  const auto parsed = sim::debug::parse_destination(options.destination);
  if (!parsed) say("--" + parsed.error().sentence);
  return parsed.has_value();
}

/// Once, or as often as a debugger wants it to be run.
Exit run_trial(const ProgramScenario& scenario, const sim::Trial& trial,
               const SimulationOptions& settings, Debugging* debugging,
               std::unique_ptr<Simulation>& simulation, sim::Outcome& outcome) {
  do {
    simulation.reset();
    simulation = std::make_unique<Simulation>(scenario, trial, settings);
    if (const Exit built = simulation->build(); built != Exit::kOk) return built;
    outcome = simulation->run();
  } while (debugging != nullptr && !Interruption::came() && debugging->cluster().runs_again());
  return Exit::kOk;
}

/// The summary, as far as it is wanted.
void print_end(const SimOptions& options, std::uint64_t seed, Simulation& simulation,
               const sim::Outcome& outcome) {
  const auto print = [](const std::string& text) { std::fputs(printable(text).c_str(), stdout); };
  if (!options.quiet) print(simulation.endings());
  if (options.trace) print(simulation.world().trace().text());
  for (const sim::FaultStatus& status : outcome.faults) print(status.to_string() + "\n");
  if (!options.quiet) {
    std::printf("seed %llu, %s s of virtual time, trace hash %016llx\n",
                static_cast<unsigned long long>(seed),
                seconds_text(simulation.world().now().time_since_epoch()).c_str(),
                static_cast<unsigned long long>(outcome.trace_hash));
  }
  std::fflush(stdout);
}

SimulationOptions settings_of(const SimOptions& options) {
  return {.print = true,
          .raw = options.raw,
          .calls = options.calls,
          .trace = options.trace,
          .capture = !options.capture.empty(),
          .record = options.record,
          .program = "anyrdma sim" + (options.file.empty() ? "" : " " + options.file),
          .command = options.command,
          .output = options.output,
          .times = options.times,
          .cores = options.cores,
          .check_menu = true,
          .stacks = true,
          .verify = true,
          .interrupted = Interruption::came};
}

/// `cores`: lines about the core files.
void print_problem(const SimOptions& options, const std::string& problem,
                   const std::string& cores) {
  std::fprintf(stderr, "anyrdma: %s%s", printable(problem).c_str(), printable(cores).c_str());
  if (!options.gdb && !options.command.empty())
    std::fprintf(stderr, "debug: %s\n", printable(debug_command(options.command)).c_str());
}

/// For those who did not see the run.
bool report(const SimOptions& options, const sim::Trial& trial, const sim::Outcome& outcome,
            std::chrono::steady_clock::time_point begin, CiReports& reports) {
  if (!reports.wanted()) return true;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  ScenarioReport report{.command = options.trial.empty() ? "anyrdma sim" : "anyrdma replay",
                        .scenario = options.file.empty() ? "programs" : options.file,
                        .sentence = trial.to_string("; "),
                        .seconds = took.count()};
  if (outcome.problem.empty()) return reports.add(std::move(report));
  ReportedFailure failure{.name = report.sentence,
                          .problem = outcome.problem,
                          .again = options.command,
                          .recording = options.record};
  if (!options.command.empty()) failure.debug = debug_command(options.command);
  for (const sim::FaultStatus& each : outcome.faults) failure.faults.push_back(each.to_string());
  report.failures.push_back(std::move(failure));
  return reports.add(std::move(report));
}

/// What `--bundle` takes from the run.
class Bundling {
 public:
  Bundling(const SimOptions& options, SimulationOptions& settings) : path_(options.bundle) {
    if (path_.empty()) return;
    settings.code = &code_;
    if (settings.record.empty()) {
      place_.emplace(sim::Storage::kDisk);
      settings.record = (place_->path() / "recording").string();
    }
    recording_ = settings.record;
  }
  /// False: it could not be written, which was said.
  [[nodiscard]] bool write(const ProgramScenario& scenario, const sim::Trial& trial,
                           const sim::Outcome& outcome) {
    if (path_.empty()) return true;
    const std::string why = write_bundle(path_, {.scenario = scenario,
                                                 .trial = trial.to_string("; "),
                                                 .hash = outcome.trace_hash,
                                                 .libraries = code_,
                                                 .recording = recording_});
    say(why.empty() ? "the bundle is '" + path_ + "'. To replay it: anyrdma replay " + path_ : why);
    return why.empty();
  }

 private:
  std::string path_;
  std::string recording_;
  std::optional<sim::RunDirectory> place_;
  std::set<std::string> code_;
};

void compare(const SimOptions& options, const sim::Outcome& outcome) {
  if (options.from == nullptr || options.from->manifest().hash == outcome.trace_hash) return;
  std::string sentence = "the run differs from that of the bundle: its trace hash is ";
  append(sentence, "%016llx, not %016llx.", static_cast<unsigned long long>(outcome.trace_hash),
         static_cast<unsigned long long>(options.from->manifest().hash));
  say(sentence);
}

}  // namespace

int simulate(const SimOptions& options) {
  const auto scenario = scenario_of(options);
  const auto trial = trial_of(options, scenario ? scenario->memory : "");
  if (!scenario || !trial) return static_cast<int>(Exit::kUsage);
  SimulationOptions settings = settings_of(options);
  Bundling bundling(options, settings);
  if (!take_destination(options)) return static_cast<int>(Exit::kUsage);
  if (!read_time("call-cost", options.call_cost, settings.call_cost))
    return static_cast<int>(Exit::kUsage);
  CiReports reports(options.junit);
  if (!reports.usable()) return static_cast<int>(Exit::kUsage);
  const auto begin = std::chrono::steady_clock::now();
  const Interruption interruption;
  // As it comes, and in its place among what goes to stderr.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  sim::scenarios::watch();
  const sim::Findings findings;
  std::unique_ptr<sim::Premises> premises;
  LinesSaid lines_said;
  std::unique_ptr<Debugging> debugging;
  if (options.gdb) {
    debugging = Debugging::begin(options.socket, options.destination);
    if (Interruption::came()) Interruption::end();
    if (debugging == nullptr) return static_cast<int>(Exit::kUsage);
    settings.trace = true;
    settings.debugger = &debugging->cluster();
    premises = std::make_unique<sim::Premises>();  // one run after the other
    settings.premises = premises.get();
    settings.lines_said = &lines_said;
    settings.on_tape = [&cluster = debugging->cluster()](auto tape) {
      cluster.record_on(std::move(tape));
    };
  }
  std::unique_ptr<Simulation> simulation;
  sim::Outcome outcome;
  if (const Exit built =
          run_trial(*scenario, *trial, settings, debugging.get(), simulation, outcome);
      built != Exit::kOk)
    return static_cast<int>(built);
  if (debugging != nullptr && debugging->cluster().killed()) {
    say("gdb has ended the run.");
    return static_cast<int>(Exit::kFailed);
  }
  print_end(options, trial->seed, *simulation, outcome);
  if (debugging != nullptr && debugging->cluster().has_left_path())
    say("gdb has added a fault: the run was not that of its trial.");
  if (debugging != nullptr) debugging->cluster().end();
  const bool captured =
      options.capture.empty() || write_capture(options.capture, simulation->world());
  const bool interrupted = Interruption::came();
  const std::string cores = simulation->cores();
  const std::string verified = interrupted ? "" : simulation->verify(outcome.problem);
  simulation.reset();  // some checkers speak at the world's end
  premises.reset();
  outcome.problem += verified;
  outcome.problem += findings.problems();
  if (const std::string none = trial->unreached(outcome.choices); !none.empty()) {
    say("the trial does not belong to this scenario: " + none + ".");
    return static_cast<int>(Exit::kUsage);
  }
  compare(options, outcome);
  const bool bundled = bundling.write(*scenario, *trial, outcome);
  if (!outcome.problem.empty()) print_problem(options, outcome.problem, cores);
  const bool reported = report(options, *trial, outcome, begin, reports);
  debugging.reset();
  if (Interruption::came()) Interruption::end();
  const bool well = outcome.problem.empty() && captured && bundled && reported;
  return static_cast<int>(well ? Exit::kOk : Exit::kFailed);
}

}  // namespace anyrdma::tools
