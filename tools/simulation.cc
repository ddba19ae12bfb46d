#include "tools/simulation.h"

#include <fcntl.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/printable.h"
#include "base/text.h"
#include "recording/sink.h"
#include "recording/tape.h"
#include "sim/check/checkers.h"
#include "sim/debug/core/cores.h"
#include "sim/explore/explore.h"
#include "sim/host.h"
#include "sim/machines/drop_in.h"
#include "sim/machines/executable.h"
#include "sim/machines/machines.h"
#include "sim/mistakes.h"
#include "sim/programs/supervisor/sandbox.h"
#include "sim/programs/supervisor/stack_report.h"
#include "sim/recorder.h"
#include "sim/world.h"
#include "tools/common_directories.h"
#include "tools/core_files.h"
#include "tools/host_lines.h"
#include "tools/judgement.h"
#include "tools/output_files.h"
#include "tools/planned_ends.h"
#include "tools/run_progress.h"
#include "tools/start.h"
#include "tools/verification.h"
#include "tools/words.h"
#include "transport/realtime/descriptor.h"

namespace anyrdma::tools {
namespace {

using sim::programs::OutputLine;
using sim::programs::Program;
using sim::programs::Sandbox;

/// As for a user who starts the server first.
constexpr sim::Duration kBetweenStarts = std::chrono::milliseconds(10);
/// For servers that are told to end.
constexpr sim::Duration kFarewell = std::chrono::seconds(10);

void print_call(verbs::Instant time, std::string_view thread, std::string_view call) {
  std::fprintf(stderr, "%s %s%s", seconds_text(time.time_since_epoch()).c_str(),
               printable(thread).c_str(), printable(call).c_str());
}

}  // namespace

class Simulation::Run {
 public:
  Run(const ProgramScenario& scenario, const sim::Trial& trial, const SimulationOptions& options)
      : scenario_(scenario),
        trial_(trial),
        options_(options),
        verification_(options.verify && !scenario.verifications.empty()
                          ? Verification::create(scenario, options.premises != nullptr
                                                               ? options.premises->directory()
                                                               : std::filesystem::path())
                          : std::nullopt),
        world_(trial.seed, world_options()) {
    world_.mistakes()->listen(
        [this](const std::string& line, const std::string& stacks) { tell(line + "\n" + stacks); });
  }
  [[nodiscard]] sim::World& world() { return world_; }
  [[nodiscard]] Sandbox& sandbox() { return sandbox_; }

  [[nodiscard]] Exit build() {
    if (options_.verify && !scenario_.verifications.empty() && !verification_) return Exit::kUsage;
    if (!begin_recording()) return Exit::kUsage;
    if (!options_.output.empty()) {
      output_ = OutputFiles::create(options_.output, options_.times);
      if (!output_) return Exit::kUsage;
    }
    if (!options_.cores.empty() && !(cores_ = CoreFiles::create(options_.cores)))
      return Exit::kUsage;
    if (const std::string problem = problem_with(scenario_); !problem.empty()) {
      say(problem);
      return Exit::kUsage;
    }
    for (const PlacedHost& host : scenario_.hosts) {
      if (const std::string problem = machines_.problem_with_host(host.name, host.addresses);
          !problem.empty()) {
        say(host.where + ": " + problem);
        return Exit::kUsage;
      }
      if (const auto made =
              machines_.add_host(host.name, host.addresses, description_of(scenario_, host.name));
          !made) {
        say(host.where + ": " + made.error().sentence);
        return Exit::kFailed;
      }
    }
    for (const auto* all : {&scenario_.background, &scenario_.programs}) {
      for (const Placed& program : *all) {
        const std::string name = name_of(program);
        world_.find_host(program.host)->processes().announce(name.substr(name.find('/') + 1));
      }
    }
    if (const Exit taken = take_lines(scenario_.faults, true); taken != Exit::kOk) return taken;
    if (options_.check_menu) {
      if (const Exit checked = take_lines(scenario_.menu, false); checked != Exit::kOk)
        return checked;
    }
    for (const sim::FaultPlan* plan : {&scenario_.plan, &trial_.plan}) {
      if (const Exit injected = inject(*plan); injected != Exit::kOk) return injected;
    }
    for (const Placed& program : scenario_.background) {
      if (const Exit started = start(program, true); started != Exit::kOk) return started;
    }
    for (const Placed& program : scenario_.programs) {
      if (const Exit started = start(program, false); started != Exit::kOk) return started;
    }
    return Exit::kOk;
  }

  [[nodiscard]] sim::Outcome run() {
    const auto is_over = [this] {
      tell_ends();
      if (progress_.due()) show_progress();
      stuck_ = stuck_ || world_.mistakes()->is_stuck(world_.now());
      if (options_.debugger != nullptr) options_.debugger->look();
      return all_ended() || nothing_more() || !refusal_.empty() || !sandbox_.overrun().empty() ||
             sandbox_.is_interrupted();
    };
    (void)world_.run_until(is_over, verbs::Instant{} + scenario_.limit);
    note_code();
    progress_.clear();
    std::string problem = refusal_;
    if (refusal_.empty() && !all_ended()) {
      if (!sandbox_.is_interrupted()) world_.mistakes()->on_rest();
      problem = who_waits();
      if (options_.debugger != nullptr) options_.debugger->on_failure(problem);
    }
    if (!problem.empty()) tell(problem);
    if (!sandbox_.is_interrupted()) {
      end_servers();
      const std::string broken = judgement_.broken(ends());
      for (const std::string& each : paragraphs_of(broken)) tell(each);
      problem += broken;
    }
    sim::check::report_retried(world_);
    world_.mistakes()->listen(nullptr);  // from now on this object may be gone
    // What says most comes first.
    problem = judgement_.reports() + crashes_of_children_ + world_.mistakes()->lines() + problem;
    if (!problem.empty()) problem += remarks();
    if (output_ && !output_->finish())
      problem += "the output of the programs could not be written to files completely\n";
    // Who waits still is about to be killed, and shall be seen waiting.
    if (sim::Recorder* const recorder = world_.recorder(); recorder != nullptr) recorder->close();
    sim::Outcome outcome = sim::outcome_of(world_);
    outcome.problem = std::move(problem);
    return outcome;
  }

  /// They may explain what went wrong otherwise. Indented, so that they are not part of its kind.
  [[nodiscard]] std::string remarks() const {
    std::string text;
    for (const std::string& line : split(world_.mistakes()->remarks(), '\n'))
      if (!line.empty()) text += "  remark: " + line + "\n";
    return text;
  }

  /// What the commands of `verify` are to judge; nullopt: there are none.
  [[nodiscard]] std::optional<Verification> take_verification() {
    return std::exchange(verification_, std::nullopt);
  }
  [[nodiscard]] std::string statuses() const {
    std::string text;
    for (const auto& program : sandbox_.programs()) {
      const unsigned number = number_of(*program);
      const std::string name = program->name() + (number == 1 ? "" : "#" + std::to_string(number));
      text +=
          (went_down(*program) ? name + " down" : sim::status_line(name, program->status())) + "\n";
    }
    return text;
  }

  [[nodiscard]] std::string cores() const { return cores_ ? cores_->lines() : std::string(); }
  [[nodiscard]] std::string endings() const {
    std::string text;
    for (const auto& program : sandbox_.programs())
      text += program->name() + " " + ending_of(*program) + "\n";
    return text;
  }

 private:
  [[nodiscard]] sim::WorldOptions world_options() const {
    sim::WorldOptions world;
    world.tracing = options_.trace ? sim::Tracing::kKeep : sim::Tracing::kHash;
    world.capture = options_.capture;
    world.record = recording();
    world.recording = tape();
    world.ownership = sim::Ownership::kOn;
    world.allow = scenario_.allowed;
    world.deny = scenario_.denied;
    world.stacks = options_.stacks;
    return trial_.options(world);
  }

  /// Empty: none.
  [[nodiscard]] std::string recording() const {
    return options_.record.empty() && verification_ ? verification_->recording() : options_.record;
  }

  /// Null: the recording is needed by no one while the run goes on, or cannot be written.
  [[nodiscard]] std::shared_ptr<recording::Sink> tape() const {
    if (!options_.on_tape) return nullptr;
    std::unique_ptr<recording::Sink> file;
    if (!recording().empty()) file = recording::FileSink::create(recording());
    if (file == nullptr && !recording().empty()) return nullptr;
    auto tape = std::make_shared<recording::Tape>(std::move(file));
    options_.on_tape(tape);
    return tape;
  }

  [[nodiscard]] bool begin_recording() {
    sim::Recorder* const recorder = world_.recorder();
    if (recorder == nullptr) {
      if (recording().empty()) return true;
      say("the recording '" + recording() + "' cannot be written. Check the path.");
      return false;
    }
    if (verification_ && !options_.record.empty()) verification_->use_recording(options_.record);
    recorder->about("program", options_.program);
    recorder->about("command", options_.command);
    return true;
  }

  void show_progress() {
    const auto running = std::ranges::count_if(sandbox_.programs(),
                                               [](const auto& each) { return !each->status(); });
    progress_.show({.now = world_.now().time_since_epoch(),
                    .limit = scenario_.limit,
                    .running = static_cast<std::size_t>(running)});
  }

  // --- what is recorded when it is said ---------------------------------------------------------
  /// A problem, by its first line, which is said once.
  void tell(std::string_view problem) {
    take_failure();
    if (!told_.insert(std::string(problem.substr(0, problem.find('\n')))).second) return;
    if (world_.recorder() != nullptr) world_.recorder()->finding(problem);
  }

  /// The ends that were not expected, while it is the time of them.
  void tell_ends() {
    if (world_.recorder() == nullptr) return;
    for (const auto& program : sandbox_.programs()) {
      const std::optional<int>& status = program->status();
      if (!status || judgement_.ends_as_expected(end_of(*program))) continue;
      if (WIFSIGNALED(*status))
        tell_crash(program->name(), *status, crash_of(*program));
      else
        tell(program->name() + " " + ending_of(*program));
    }
  }

  void tell_crash(const std::string& name, int status, std::string_view stacks) {
    const std::string how = ending_text(status);
    if (told_.insert(name + " " + how).second && world_.recorder() != nullptr)
      world_.recorder()->crash(name, how, stacks);
  }

  /// `thread`: the one that has failed; empty: none.
  void take_failure(std::string_view thread = {}) {
    if (cores_) cores_->take_failure(sandbox_, thread);
  }

  void note_code() {
    if (options_.code != nullptr) sim::debug::add_code_files(sandbox_, *options_.code);
  }

  /// The program ends when it goes on.
  void take_exit(const Program& program, std::string_view thread, int status) {
    note_code();
    ProgramEnd end = end_of(program);
    end.status = status;
    if (judgement_.ends_as_expected(end)) return;
    take_failure(thread);
    if (options_.debugger != nullptr && WIFEXITED(status))
      options_.debugger->on_failure(program.name() + " " + end_text(end) + "\n");
  }

  /// The process dies when it goes on.
  void take_crash(const sim::programs::Crash& crash) {
    std::string stacks = options_.stacks ? full_text(crash) : brief_text(crash);
    if (!crash.of_child) {
      take_exit(*crash.program, crash.thread, crash.signal);
      crashes_[crash.program] = std::move(stacks);
    } else if (!judgement_.may_crash(crash.program->name(), number_of(*crash.program))) {
      take_failure(crash.thread);
      crashes_of_children_ += crash.process + " " + ending_text(crash.signal) + "\n" + stacks;
      tell_crash(crash.process, crash.signal, stacks);
    }
  }

  [[nodiscard]] std::string_view crash_of(const Program& program) const {
    const auto found = crashes_.find(&program);
    return found == crashes_.end() ? std::string_view() : std::string_view(found->second);
  }

  [[nodiscard]] std::string who_waits() {
    if (const std::string& who = sandbox_.overrun(); !who.empty()) {
      return who +
             (options_.stacks ? " at this place:\n" + sim::programs::stack_report(sandbox_) : "\n");
    }
    // The clock stops at the last thing that happens in time.
    const bool late = world_.now().time_since_epoch() >= scenario_.limit ||
                      (world_.scheduler().anything_left() && !nothing_more());
    const verbs::Duration end = late ? scenario_.limit : world_.now().time_since_epoch();
    const bool interrupted = sandbox_.is_interrupted();
    const char* const why = interrupted ? "interrupted"
                            : late      ? "the limit of virtual time is reached"
                                        : "no event is pending";
    if (sim::Recorder* const recorder = world_.recorder(); recorder != nullptr) {
      recorder->hang(why);
      if (interrupted) recorder->set_verdict("interrupted");
    }
    const verbs::Duration when = interrupted ? world_.now().time_since_epoch() : end;
    const bool deadlock = !late && !interrupted;
    std::string text = std::string(deadlock ? "deadlock: " : "") + why +
                       (" at " + seconds_text(when)) + " s, and these wait:\n" +
                       world_.stuck_report();
    if (options_.stacks)
      text += "They are at these places:\n" + sim::programs::stack_report(sandbox_);
    return text;
  }

  // --- what is expected -------------------------------------------------------------------------
  [[nodiscard]] static std::string ending_of(const Program& program) {
    if (went_down(program)) return "went down with its host";
    return end_text({.name = program.name(), .status = program.status()});
  }

  [[nodiscard]] ProgramEnd end_of(const Program& program) const {
    return {.name = program.name(),
            .number = number_of(program),
            .status = program.status(),
            .background = program.background(),
            .told_to_end = told_to_end_.contains(&program),
            .ended_by_plan =
                went_down(program) || killed_by_plan(world_.faults(), program, number_of(program)),
            .crash = crash_of(program)};
  }

  [[nodiscard]] std::vector<ProgramEnd> ends() const {
    std::vector<ProgramEnd> all;
    for (const auto& program : sandbox_.programs()) all.push_back(end_of(*program));
    return all;
  }

  /// Of its host's programs of that name.
  [[nodiscard]] unsigned number_of(const Program& program) const {
    unsigned number = 0;
    for (const auto& each : sandbox_.programs()) {
      if (each->name() == program.name()) ++number;
      if (each.get() == &program) break;
    }
    return number;
  }

  // --- building ---------------------------------------------------------------------------------
  [[nodiscard]] Exit inject(const sim::FaultPlan& plan) {
    const auto injected = world_.faults().inject(plan);
    if (injected) return Exit::kOk;
    say("the fault plan: " + injected.error().to_string() + ".");
    return Exit::kUsage;
  }

  /// Of the scenario's file: `happen`, or may be drawn.
  [[nodiscard]] Exit take_lines(const std::string& text, bool happen) {
    const auto refuse_line = [this](std::size_t line, const std::string& reason) {
      say(scenario_.file + ":" + std::to_string(line) + ": " + reason + ".");
      return Exit::kUsage;
    };
    const auto plan = sim::FaultPlan::parse(text);
    if (!plan) return refuse_line(plan.error().line, plan.error().reason);
    sim::Faults& faults = world_.faults();
    const auto done = happen ? faults.inject(*plan) : faults.check(*plan);
    if (done) return Exit::kOk;
    return refuse_line(line_of_fault(text, done.error().line), done.error().reason);
  }

  void take(const OutputLine& line) {
    const Said said = judgement_.take(line.program, number_of(*line.source), line.text);
    if (said.is_report) {
      const std::string stacks = stacks_at_report(sandbox_, *line.source, options_.stacks);
      judgement_.explain_report(line.program, stacks);
      tell(said.problem + "\n" + stacks);
    } else if (!said.problem.empty()) {
      tell(said.problem);
    }
    if (verification_) verification_->output().take(line);
    if (output_) return output_->take(line);
    if (!options_.print) return;
    if (options_.lines_said != nullptr && !options_.lines_said->is_new(++lines_)) return;
    progress_.clear();
    // As one, whatever bytes there are.
    const std::string text = seconds_text(line.time.time_since_epoch()) + " " +
                             printable_line(line.program) + ": " +
                             (options_.raw ? std::string(line.text) : printable(line.text)) + "\n";
    std::fwrite(text.data(), 1, text.size(), line.error ? stderr : stdout);
  }

  /// Timers of a server that nobody talks to run for ever.
  [[nodiscard]] bool nothing_more() const { return stuck_ || machines_.is_quiet(); }

  void end_servers() {
    for (const auto& program : sandbox_.programs()) {
      if (!program->background() || program->status()) continue;
      told_to_end_.insert(program.get());
      sandbox_.signal(*program, SIGTERM);
    }
    const auto ended = [this] {
      tell_ends();
      return std::all_of(sandbox_.programs().begin(), sandbox_.programs().end(),
                         [](const auto& each) { return !each->background() || each->status(); });
    };
    (void)world_.run_until(ended, world_.now() + kFarewell);
  }

  [[nodiscard]] sim::programs::SandboxOptions sandbox_options() {
    const std::function<void(std::string_view)> remark = [this](std::string_view text) {
      progress_.clear();
      if (options_.print) say(std::string(text));
    };
    return {.call_cost = options_.call_cost,
            .processor_time = scenario_.patience,
            .interrupted = options_.interrupted,
            .common = common_directories(scenario_),
            .huge_pages = scenario_.huge_pages,
            .on_output = [this](const OutputLine& line) { take(line); },
            .on_crash = [this](const sim::programs::Crash& crash) { take_crash(crash); },
            .on_exit = [this](const Program& program, std::string_view thread,
                              int status) { take_exit(program, thread, status); },
            .all_stacks = options_.stacks,
            .debugger = options_.debugger,
            .on_call = options_.calls ? print_call : nullptr,
            .on_remark = [=, this](auto text) { scenario_.strict ? refuse(text) : remark(text); },
            .on_fact = scenario_.strict ? remark : nullptr};
  }

  void refuse(std::string_view text) {
    if (refusal_.empty())
      refusal_ = "--strict ended the run, which may be irreproducible: " + std::string(text) + "\n";
  }

  [[nodiscard]] std::vector<std::string> environment_on(const sim::Host& host,
                                                        const std::filesystem::path& libraries) {
    auto variables = kept_on(scenario_, machines_.variables(host));
    variables.insert(scenario_.environment.begin(), scenario_.environment.end());
    variables.merge(sim::simulated_variables(libraries));
    return sim::environment_with(variables);
  }

  /// Each program reads it from its beginning. -1: there is none, or it cannot be read.
  [[nodiscard]] int open_input() {
    if (scenario_.input.empty()) return -1;
    inputs_.emplace_back(::open(scenario_.input.c_str(), O_RDONLY | O_CLOEXEC));
    return inputs_.back().get();
  }

  [[nodiscard]] Exit start(const Placed& placed, bool background) {
    sim::Host& host = *world_.find_host(placed.host);  // problem_with has looked
    const std::vector<std::string> words = words_of(placed.command).value();
    auto prepared = prepare_start(program_path(scenario_, words.front()));
    if (!prepared) return prepared.error();
    if (scenario_.strict && !prepared->unserved.empty()) refuse(prepared->unserved);
    const std::string path = scenario_.directory.empty()
                                 ? prepared->path
                                 : std::filesystem::absolute(prepared->path).string();
    const std::string full = name_of(placed);
    const std::string name = full.substr(full.find('/') + 1);
    const int input = open_input();
    if (input < 0 && !scenario_.input.empty()) {
      say("the stdin of programs, '" + scenario_.input + "', cannot be read. Check the path.");
      return Exit::kUsage;
    }
    const auto program =
        sandbox_.start(host, name,
                       {.path = path,
                        .arguments = words,
                        .environment = environment_on(host, prepared->libraries),
                        .directory = scenario_.directory,
                        .input = input,
                        .start = kBetweenStarts * started_++,
                        .background = background,
                        .kept = sim::kept_variables(
                            prepared->libraries, kept_on(scenario_, machines_.variables(host)))});
    if (!program) {
      say(sim::why_not_started(path, program.error()));
      return Exit::kFailed;
    }
    if (output_ && !output_->add(**program)) return Exit::kFailed;
    if (verification_ && !verification_->output().add(**program)) return Exit::kFailed;
    if (world_.faults().may_restart(host.name())) {  // the fiber runs now, too, with nothing to do
      host.on_start(
          "start", [this, it = *program] { start_again(*it); }, sim::Ending::kMayServe);
    }
    return Exit::kOk;
  }

  /// It went down with its host, which starts again, or has just done so.
  [[nodiscard]] bool comes_back(const Program& program) {
    if (!program.crashed()) return false;
    const sim::Host* const host =
        world_.find_host(std::string_view(program.name()).substr(0, program.name().find('/')));
    const sim::Faults& faults = world_.faults();
    return faults.may_restart(host->name()) &&
           (host->running() || faults.will_restart(host->name()));
  }

  [[nodiscard]] bool all_ended() {
    if (!sandbox_.all_ended()) return false;
    return std::ranges::none_of(sandbox_.programs(), [this](const auto& each) {
      return !each->background() && comes_back(*each);
    });
  }

  void start_again(Program& program) {
    if (!program.crashed()) return;
    const auto started = sandbox_.start_again(program);
    if (!started && started.error().value() != ECANCELED)
      say(program.name() + " cannot be restarted: " + started.error().message());
  }

  const ProgramScenario& scenario_;
  const sim::Trial& trial_;
  const SimulationOptions options_;
  Judgement judgement_{scenario_.expectations};
  std::set<const Program*> told_to_end_;
  std::optional<OutputFiles> output_;
  std::optional<CoreFiles> cores_;
  std::optional<Verification> verification_;
  std::vector<transport::realtime::Descriptor> inputs_;
  std::set<std::string> told_;                     ///< first lines of findings
  std::map<const Program*, std::string> crashes_;  ///< lines of the last one of each
  std::string crashes_of_children_;                ///< a line each, and lines about it
  std::string refusal_;                            ///< with which a strict run ends
  bool stuck_ = false;                             ///< a program waits for itself
  unsigned started_ = 0;
  std::size_t lines_ = 0;  ///< that programs have said
  RunProgress progress_{options_.print && !options_.calls && options_.debugger == nullptr};
  sim::World world_;
  sim::Machines machines_{world_, sandbox_options(), options_.premises};
  Sandbox& sandbox_ = machines_.sandbox();
};

Simulation::Simulation(const ProgramScenario& scenario, const sim::Trial& trial,
                       const SimulationOptions& options)
    : interrupted_(options.interrupted),
      trial_(trial.to_string("\n") + "\n"),
      run_(std::make_unique<Run>(scenario, trial, options)) {}
Simulation::~Simulation() = default;
Exit Simulation::build() {
  return run_->build();
}
sim::Outcome Simulation::run() {
  return run_->run();
}
std::string Simulation::verify(std::string_view problem) {
  auto verification = run_->take_verification();
  const std::string statuses = run_->statuses();
  const std::string remarks = problem.empty() ? run_->remarks() : std::string();
  run_.reset();  // which completes the recording
  if (!verification) return {};
  const std::string said = verification->run(statuses, trial_, problem, interrupted_);
  return said.empty() ? said : said + remarks;
}
std::string Simulation::cores() const {
  return run_->cores();
}
std::string Simulation::endings() const {
  return run_->endings();
}
sim::World& Simulation::world() {
  return run_->world();
}
sim::programs::Sandbox& Simulation::sandbox() {
  return run_->sandbox();
}

}  // namespace anyrdma::tools
