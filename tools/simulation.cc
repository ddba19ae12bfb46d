#include "tools/simulation.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <variant>

#include "sim/explore/explore.h"
#include "sim/host.h"
#include "sim/machines/drop_in.h"
#include "sim/machines/machines.h"
#include "sim/programs/sandbox.h"
#include "sim/programs/stack_report.h"
#include "sim/recorder.h"
#include "sim/text/text.h"
#include "sim/world.h"
#include "tools/output_files.h"
#include "tools/run_progress.h"
#include "tools/start.h"
#include "tools/words.h"

namespace anyrdma::tools {
namespace {

using sim::programs::OutputLine;
using sim::programs::Program;
using sim::programs::Sandbox;

std::string why_not(const std::error_code& error) {
  const std::string sentence = error.message() + ".";
  if (error == std::errc::operation_not_permitted) {
    return error.message() +
           ". Processes may not be traced here, or not be given a filter: both ptrace(2) and "
           "seccomp(2) must be allowed (a container may need --cap-add SYS_PTRACE "
           "--security-opt seccomp=unconfined).";
  }
  if (error != std::errc::permission_denied) return sentence;
  // A simulated host is a namespace of its own: there a directory is entered by its path, not
  // inherited.
  std::error_code unknown;
  const std::filesystem::path here = std::filesystem::current_path(unknown);
  if (unknown || ::access(here.c_str(), X_OK) == 0) return sentence;
  return "this user may not enter the directory '" + here.string() +
         "', which is the program's. Change to another one, or open it (chmod a+x, up to the top).";
}

/// As somebody has who starts the server first.
constexpr sim::Duration kBetweenStarts = std::chrono::milliseconds(10);

/// Who has done nothing but wait for so long will do nothing more.
constexpr sim::Duration kQuietAtMost = std::chrono::hours(1);
/// For servers that are told to end.
constexpr sim::Duration kFarewell = std::chrono::seconds(10);

/// And not by itself before.
bool went_down(const Program& program) {
  const std::optional<int>& status = program.status();
  return program.crashed() && status && WIFSIGNALED(*status) && WTERMSIG(*status) == SIGKILL;
}

std::string ending_text(const Program& program) {
  const std::optional<int>& status = program.status();
  if (went_down(program)) return "went down with its host";
  if (!status) return "has not ended";
  if (WIFSIGNALED(*status)) return "was ended by signal " + std::to_string(WTERMSIG(*status));
  return "ended with status " + std::to_string(WEXITSTATUS(*status));
}

}  // namespace

class Simulation::Run {
 public:
  Run(const ProgramScenario& scenario, const sim::Trial& trial, const SimulationOptions& options)
      : scenario_(scenario),
        trial_(trial),
        options_(options),
        world_(trial.seed, world_options(trial, options)) {}
  [[nodiscard]] sim::World& world() { return world_; }

  [[nodiscard]] Exit build() {
    if (!begin_recording()) return Exit::kUsage;
    if (!options_.output.empty()) {
      output_ = OutputFiles::create(options_.output);
      if (!output_) return Exit::kUsage;
    }
    for (const std::string& text : scenario_.hosts) {
      const std::size_t equals = text.find('=');
      if (equals == std::string::npos || equals == 0) {
        say("--host " + text + ": say NAME=ADDRESS, as in server=10.0.0.1.");
        return Exit::kUsage;
      }
      for (const std::string& address : split(text.substr(equals + 1), ',')) {
        if (sim::Prefix::parse(address)) continue;
        say("--host " + text + ": '" + address + "' is no IP address.");
        return Exit::kUsage;
      }
      const std::string name = text.substr(0, equals);
      if (world_.find_host(name) != nullptr) {
        say("--host " + text + ": there is a host of that name already.");
        return Exit::kUsage;
      }
      if (const Exit made = add_host(name, split(text.substr(equals + 1), ',')); made != Exit::kOk)
        return made;
    }
    for (const auto* all : {&scenario_.background, &scenario_.programs}) {
      for (const auto& [host, line] : *all) announce(host, line);
    }
    if (!scenario_.faults.empty()) {
      const auto plan = sim::FaultPlan::parse(scenario_.faults);
      if (!plan) {
        say("the fault plan: " + plan.error().to_string() + ".");
        return Exit::kUsage;
      }
      if (const Exit injected = inject(*plan); injected != Exit::kOk) return injected;
    }
    if (const Exit injected = inject(trial_.plan); injected != Exit::kOk) return injected;
    for (const auto& [host, line] : scenario_.background) {
      if (const Exit started = start(host, line, true); started != Exit::kOk) return started;
    }
    for (const auto& [host, line] : scenario_.programs) {
      if (const Exit started = start(host, line, false); started != Exit::kOk) return started;
    }
    return Exit::kOk;
  }

  [[nodiscard]] sim::Outcome run() {
    const auto is_over = [this] {
      tell_crashes();
      if (progress_.due()) show_progress();
      return all_ended() || nothing_more() || cannot_go_on() || sandbox_.is_interrupted();
    };
    (void)world_.run_until(is_over, verbs::Instant{} + scenario_.limit);
    progress_.clear();
    std::string problem;
    if (!refusal_.empty()) {
      problem = refusal_;
    } else if (!all_ended()) {
      problem = who_waits();
    }
    if (!sandbox_.is_interrupted()) {
      end_servers();
      problem += broken_expectations();
    }
    if (output_ && !output_->finish()) problem += "not all that programs have said is in files\n";
    if (sim::Recorder* const recorder = world_.recorder(); recorder != nullptr) {
      if (!problem.empty()) recorder->finding(problem);
      recorder->close();  // who waits still is about to be killed, and shall be seen waiting
    }
    sim::Outcome outcome = sim::outcome_of(world_);
    outcome.problem = std::move(problem);
    return outcome;
  }

  [[nodiscard]] std::string endings() const {
    std::string text;
    for (const auto& program : sandbox_.programs())
      text += program->name() + " " + ending_text(*program) + "\n";
    return text;
  }

 private:
  static sim::WorldOptions world_options(const sim::Trial& trial,
                                         const SimulationOptions& options) {
    sim::WorldOptions world;
    world.tracing = options.trace ? sim::Tracing::kKeep : sim::Tracing::kHash;
    world.capture = options.capture;
    world.record = options.record;
    return trial.options(world);
  }

  [[nodiscard]] bool begin_recording() {
    if (options_.record.empty()) return true;
    sim::Recorder* const recorder = world_.recorder();
    if (recorder == nullptr) {
      say("the recording '" + options_.record + "' cannot be written. Check the path.");
      return false;
    }
    recorder->about("program", options_.program);
    recorder->about("command", options_.command);
    return true;
  }

  [[nodiscard]] bool cannot_go_on() const {
    return !refusal_.empty() || !sandbox_.overrun().empty();
  }

  void show_progress() {
    const auto& all = sandbox_.programs();
    const auto running =
        std::count_if(all.begin(), all.end(), [](const auto& each) { return !each->status(); });
    progress_.show({.now = world_.now().time_since_epoch(),
                    .limit = scenario_.limit,
                    .running = static_cast<std::size_t>(running)});
  }

  /// While it is the time that it happened.
  void tell_crashes() {
    sim::Recorder* const recorder = world_.recorder();
    if (recorder == nullptr) return;
    for (const auto& program : sandbox_.programs()) {
      const std::optional<int>& status = program->status();
      if (!status || !WIFSIGNALED(*status) || went_down(*program) || ends_as_expected(*program))
        continue;
      if (crashes_.insert(program.get()).second)
        recorder->crash(program->name(), ending_text(*program));
    }
  }

  [[nodiscard]] std::string who_waits() {
    if (const std::string& who = sandbox_.overrun(); !who.empty()) {
      return who + (options_.stacks ? ", and stands here:\n" + sim::programs::stack_report(sandbox_)
                                    : "\n");
    }
    // The clock stops at the last thing that happens in time.
    const bool late = world_.now().time_since_epoch() >= scenario_.limit ||
                      (world_.scheduler().anything_left() && !nothing_more());
    const verbs::Duration end = late ? scenario_.limit : world_.now().time_since_epoch();
    const bool interrupted = sandbox_.is_interrupted();
    const char* const why = interrupted ? "interrupted"
                            : late      ? "the time is up"
                                        : "nothing can happen any more";
    if (sim::Recorder* const recorder = world_.recorder(); recorder != nullptr) {
      recorder->hang(why);
      if (interrupted) recorder->set_verdict("interrupted");
    }
    const verbs::Duration when = interrupted ? world_.now().time_since_epoch() : end;
    std::string text =
        why + (" at " + sim::seconds_text(when)) + " s, and these wait:\n" + world_.stuck_report();
    if (options_.stacks) text += "and stand here:\n" + sim::programs::stack_report(sandbox_);
    return text;
  }

  // --- what is expected -------------------------------------------------------------------------

  [[nodiscard]] std::string broken_expectations() const {
    std::string text;
    for (const auto& program : sandbox_.programs()) {
      if (!program->status() || went_down(*program)) continue;
      if (ends_as_expected(*program)) continue;
      text += program->name() + " " + ending_text(*program) + "\n";
    }
    for (std::size_t i = 0; i < scenario_.expectations.size(); ++i) {
      const Expectation& each = scenario_.expectations[i];
      const bool found = said_.contains(i);
      if (each.kind == Expectation::Kind::kOutput && !found)
        text += each.program + " did not say '" + each.text + "'\n";
      if (each.kind == Expectation::Kind::kNoOutput && found)
        text += each.program + " said '" + each.text + "'\n";
    }
    return text;
  }

  [[nodiscard]] bool ends_as_expected(const Program& program) const {
    const int status = *program.status();
    if (program.background() && WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) return true;
    bool any = false;
    for (const Expectation& each : scenario_.expectations) {
      using Kind = Expectation::Kind;
      if (each.program != program.name()) continue;
      if (each.kind == Kind::kAnyEnd) return true;
      if (each.kind == Kind::kAnyStatus && WIFEXITED(status)) return true;
      if (each.kind != Kind::kStatus) continue;
      any = true;
      const auto& statuses = each.statuses;
      if (WIFEXITED(status) &&
          std::find(statuses.begin(), statuses.end(), WEXITSTATUS(status)) != statuses.end())
        return true;
    }
    return !any && (status == 0 || (program.background() && WIFEXITED(status)));
  }

  // --- building ---------------------------------------------------------------------------------

  [[nodiscard]] Exit inject(const sim::FaultPlan& plan) {
    const auto injected = world_.faults().inject(plan);
    if (injected) return Exit::kOk;
    say("the fault plan: " + injected.error().to_string() + ".");
    return Exit::kUsage;
  }

  // Its device is its programs' own, in their processes.
  [[nodiscard]] Exit add_host(const std::string& name, const std::vector<std::string>& addresses) {
    const auto host = machines_.add_host(name, addresses);
    if (host) return Exit::kOk;
    say(host.error().sentence);
    return Exit::kFailed;
  }

  void take(const OutputLine& line) {
    for (std::size_t i = 0; i < scenario_.expectations.size(); ++i) {
      const Expectation& each = scenario_.expectations[i];
      if (!each.text.empty() && each.program == line.program &&
          line.text.find(each.text) != std::string_view::npos)
        said_.insert(i);
    }
    if (output_) return output_->take(line);
    if (!options_.print) return;
    progress_.clear();
    std::fprintf(line.error ? stderr : stdout, "%s %.*s: %.*s\n",
                 sim::seconds_text(line.time.time_since_epoch()).c_str(),
                 static_cast<int>(line.program.size()), line.program.data(),
                 static_cast<int>(line.text.size()), line.text.data());
  }

  static void print_call(verbs::Instant time, std::string_view thread, std::string_view call) {
    std::fprintf(stderr, "%s %.*s%.*s", sim::seconds_text(time.time_since_epoch()).c_str(),
                 static_cast<int>(thread.size()), thread.data(), static_cast<int>(call.size()),
                 call.data());
  }

  /// Timers of a server that nobody talks to run for ever.
  [[nodiscard]] bool nothing_more() const {
    return world_.now() - sandbox_.last_deed() > kQuietAtMost;
  }

  void end_servers() {
    for (const auto& program : sandbox_.programs()) {
      if (program->background() && !program->status()) sandbox_.signal(*program, SIGTERM);
    }
    const auto ended = [this] {
      return std::all_of(sandbox_.programs().begin(), sandbox_.programs().end(),
                         [](const auto& each) { return !each->background() || each->status(); });
    };
    (void)world_.run_until(ended, world_.now() + kFarewell);
  }

  [[nodiscard]] sim::programs::SandboxOptions sandbox_options() {
    return {.call_cost = options_.call_cost,
            .processor_time = scenario_.patience,
            .interrupted = options_.interrupted,
            .on_output = [this](const OutputLine& line) { take(line); },
            .on_call = options_.calls ? print_call : nullptr,
            .on_remark =
                [this](std::string_view text) {
                  if (scenario_.strict) return refuse(std::string(text));
                  progress_.clear();
                  if (options_.print) say(std::string(text));
                }};
  }

  void refuse(const std::string& text) {
    if (refusal_.empty()) refusal_ = "strictly taken, this run is none: " + text + "\n";
  }

  /// What is wrong with it, start() says.
  void announce(const std::string& host_name, const std::string& line) {
    sim::Host* const host = world_.find_host(host_name);
    const auto words = words_of(line);
    if (host == nullptr || !words || words->empty()) return;
    host->announce_program(std::filesystem::path(words->front()).filename().string());
  }

  [[nodiscard]] Exit start(const std::string& host_name, const std::string& line, bool background) {
    sim::Host* const host = world_.find_host(host_name);
    if (host == nullptr) {
      say("--on " + host_name + ": there is no such host. Add --host " + host_name + "=ADDRESS.");
      return Exit::kUsage;
    }
    const auto words = words_of(line);
    if (!words || words->empty()) {
      say("--on " + host_name + " '" + line +
          "': " + (words ? "a program is missing." : "a quote does not end."));
      return Exit::kUsage;
    }
    auto prepared = prepare_start(words->front());
    if (!prepared) return prepared.error();
    if (scenario_.strict && !prepared->unserved.empty()) refuse(prepared->unserved);
    auto variables = sim::simulated_variables(prepared->libraries);
    for (const auto& [key, value] : machines_.variables(*host)) variables[key] = value;
    const std::string name = std::filesystem::path(words->front()).filename();
    const auto program = sandbox_.start(*host, name,
                                        {.path = prepared->path,
                                         .arguments = *words,
                                         .environment = sim::environment_with(variables),
                                         .start = kBetweenStarts * started_++,
                                         .background = background});
    if (!program) {
      say("'" + prepared->path + "' cannot be started: " + why_not(program.error()));
      return Exit::kFailed;
    }
    if (output_ && !output_->add(**program)) return Exit::kFailed;
    if (restarts()) {  // the fiber runs now, too, with nothing to do
      host->on_start(
          "start", [this, it = *program] { start_again(*it); }, sim::Ending::kMayServe);
    }
    return Exit::kOk;
  }

  [[nodiscard]] bool restarts() {
    const auto all = world_.faults().status();
    return std::any_of(all.begin(), all.end(), [](const sim::FaultStatus& each) {
      return std::holds_alternative<sim::RestartHost>(each.fault.action);
    });
  }

  /// It went down with its host, which starts again, or has just done so.
  [[nodiscard]] bool comes_back(const Program& program) {
    if (!program.crashed()) return false;
    const sim::Host* const host =
        world_.find_host(std::string_view(program.name()).substr(0, program.name().find('/')));
    const auto all = world_.faults().status();
    return std::any_of(all.begin(), all.end(), [&](const sim::FaultStatus& each) {
      const auto* restart = std::get_if<sim::RestartHost>(&each.fault.action);
      if (restart == nullptr || restart->host != host->name()) return false;
      return host->running() ||
             (each.fired == 0 && std::holds_alternative<fault::AtTime>(each.fault.trigger));
    });
  }

  [[nodiscard]] bool all_ended() {
    if (!sandbox_.all_ended()) return false;
    const auto& all = sandbox_.programs();
    return std::none_of(all.begin(), all.end(), [this](const auto& each) {
      return !each->background() && comes_back(*each);
    });
  }

  void start_again(Program& program) {
    if (!program.crashed()) return;
    const auto started = sandbox_.start_again(program);
    if (!started && started.error().value() != ECANCELED)
      say(program.name() + " cannot be started again: " + started.error().message());
  }

  const ProgramScenario& scenario_;
  const sim::Trial& trial_;
  const SimulationOptions options_;
  std::set<std::size_t> said_;  ///< numbers of the expectations whose text has come
  std::optional<OutputFiles> output_;
  std::set<const Program*> crashes_;  ///< that have been told
  std::string refusal_;               ///< with which a strict run ends
  unsigned started_ = 0;
  RunProgress progress_{options_.print && !options_.calls};
  sim::World world_;
  sim::Machines machines_{world_, sandbox_options(), options_.premises};
  Sandbox& sandbox_ = machines_.sandbox();
};

Simulation::Simulation(const ProgramScenario& scenario, const sim::Trial& trial,
                       const SimulationOptions& options)
    : run_(std::make_unique<Run>(scenario, trial, options)) {}
Simulation::~Simulation() = default;

Exit Simulation::build() {
  return run_->build();
}
sim::Outcome Simulation::run() {
  return run_->run();
}
std::string Simulation::endings() const {
  return run_->endings();
}
sim::World& Simulation::world() {
  return run_->world();
}

}  // namespace anyrdma::tools
