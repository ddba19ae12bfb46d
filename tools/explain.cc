#include "tools/explain.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "recording/page/story_page.h"
#include "recording/view/story.h"
#include "recording/view/text.h"
#include "sim/explain/explanation.h"
#include "sim/explain/follower.h"
#include "sim/explain/pool.h"
#include "sim/explain/report.h"
#include "sim/explain/witness.h"
#include "sim/explore/perform.h"
#include "sim/findings.h"
#include "sim/machines/machines.h"
#include "sim/machines/run_directory.h"
#include "sim/scenarios/scenarios.h"
#include "sim/scenarios/watch.h"
#include "sim/world.h"
#include "tools/interruption.h"
#include "tools/memory_option.h"
#include "tools/scenario_file.h"
#include "tools/simulation.h"
#include "tools/start.h"
#include "transport/fault/plan/scalars.h"

namespace anyrdma::tools {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;
using sim::explain::Follower;
using sim::explain::Probe;

constexpr std::chrono::nanoseconds kBudget = 60s;

/// What the command line says.
struct Request {
  ProgramScenario scenario;
  sim::Trial trial;
  std::chrono::nanoseconds budget = kBudget;
};

std::optional<std::chrono::nanoseconds> budget_or_say(const std::string& text) {
  if (text.empty()) return kBudget;
  verbs::Duration budget{};
  if (fault::parse_word("budget", text, budget).empty() && budget > verbs::Duration::zero())
    return budget;
  say("--budget '" + text + "' is no time. Write a time such as 60s.");
  return std::nullopt;
}

/// Before the search, which takes a while.
bool is_writable_or_say(const std::string& path) {
  if (path.empty()) return true;
  std::error_code error;
  const bool existed = std::filesystem::exists(path, error);
  if (std::ofstream(path, std::ios::binary | std::ios::app).is_open()) {
    if (!existed) std::filesystem::remove(path, error);
    return true;
  }
  say("--html '" + path + "' cannot be written. Check the path.");
  return false;
}

std::optional<Request> request_or_say(const ExplainCommand& command) {
  if (sim::scenarios::find(command.scenario) != nullptr) {
    say("a built-in scenario has no programs whose failure could be explained: explain needs a "
        "scenario file.");
    return std::nullopt;
  }
  auto scenario = read_scenario(command.scenario);
  if (!scenario) {
    say(scenario.error().sentence);
    return std::nullopt;
  }
  auto trial = sim::Trial::parse(command.trial);
  if (!trial) {
    say("the trial is invalid: " + trial.error().to_string() + ".");
    return std::nullopt;
  }
  scenario->buffered |= command.buffered;
  const auto budget = budget_or_say(command.budget);
  if (!budget || !take_memory(command.memory, trial->memory) || !is_writable_or_say(command.html))
    return std::nullopt;
  return Request{std::move(*scenario), std::move(*trial), *budget};
}

class Explaining {
 public:
  Explaining(const ExplainCommand& command, const Request& request)
      : command_(command), request_(request), deadline_(Clock::now() + request.budget) {}

  [[nodiscard]] Exit run() {
    if (const Exit begun = rehearse(); begun != Exit::kOk) return begun;
    report_.replay = std::string("anyrdma replay ") + (command_.buffered ? "--buffered " : "") +
                     command_.scenario;
    const unsigned processors = std::max(std::thread::hardware_concurrency(), 1u);
    const auto run = [this](const sim::Trial& trial, Follower& follower) {
      return run_once(trial, follower, "", false);
    };
    sim::explain::Pool pool(
        run, {.processes = command_.jobs != 0 ? command_.jobs : processors,
              .patience = std::max<std::chrono::nanoseconds>(10s, request_.scenario.patience),
              .stop = [this] { return is_over(); }});
    report_.explanation = sim::explain::explain(
        request_.trial, [&](const std::vector<Probe>& probes) { return pool.judge(probes); });
    report_.runs = pool.runs();
    if (Interruption::came()) return Exit::kFailed;
    const sim::explain::Explanation& found = report_.explanation;
    if (const std::string none = request_.trial.unreached(found.choices);
        !none.empty() && !found.out_of_time) {
      say("the trial does not belong to this scenario: " + none + ".");
      return Exit::kUsage;
    }
    if (found.fails) look();
    const std::string text =
        command_.json ? sim::explain::to_json(report_) : sim::explain::to_text(report_);
    std::fwrite(text.data(), 1, text.size(), stdout);
    if (found.fails && !command_.html.empty() && !write_page_or_say()) return Exit::kFailed;
    return found.fails && !found.out_of_time ? Exit::kOk : Exit::kFailed;
  }

 private:
  [[nodiscard]] bool is_over() const { return Interruption::came() || Clock::now() > deadline_; }

  [[nodiscard]] Exit rehearse() {
    Simulation simulation(request_.scenario, request_.trial,
                          {.check_menu = true, .premises = &premises_});
    return simulation.build();
  }

  [[nodiscard]] sim::Outcome run_once(const sim::Trial& trial, Follower& follower,
                                      const std::string& record, bool stacks) {
    Simulation simulation(
        request_.scenario, trial,
        {.record = record,
         .program = "anyrdma explain " + command_.scenario,
         .command = report_.replay + " '" + trial.to_string() + "'",
         .stacks = stacks,
         .verify = true,
         .interrupted = [&follower] { return Interruption::came() || follower.is_over(); },
         .premises = &premises_});
    if (simulation.build() != Exit::kOk) return {.problem = "the programs could not be started\n"};
    follower.begin(simulation.world(), simulation.sandbox());
    simulation.world().scheduler().set_director(&follower);
    sim::Outcome outcome = simulation.run();
    outcome.problem += simulation.verify(outcome.problem);
    return outcome;
  }

  /// In this process, with the stacks of all threads in its problem.
  [[nodiscard]] sim::Outcome watch(const sim::Trial& trial, Follower& follower,
                                   const std::string& record = "") {
    return sim::perform(
        [&](const sim::Trial& each) { return run_once(each, follower, record, true); }, trial);
  }

  /// At the programs, in runs of their own, and at recordings.
  void look() {
    sim::explain::Explanation& found = report_.explanation;
    const Probe given{.trial = found.trial};
    Follower follower(given);
    if (const std::string problem = watch(given.trial, follower).problem; !problem.empty())
      found.problem = problem;
    if (found.pair) report_.pair = look_at(*found.pair);
    for (const auto& end : found.ends) report_.ends.push_back(look_at(end));
    if (!found.faults.empty()) look_at_faults();
    const auto passing = sim::explain::nearest_passing(found);
    record(sim::explain::nearest_failing(found), passing);
  }

  [[nodiscard]] sim::explain::Witness::Pair look_at(const sim::explain::CriticalPair& pair) {
    const Probe probe{.trial = pair.fails};
    sim::explain::Witness witness(probe, pair.step, pair.first, pair.second);
    (void)watch(probe.trial, witness);
    return witness.pair();
  }

  void look_at_faults() {
    const Probe probe{.trial = report_.explanation.written};
    sim::explain::FaultWitness witness(probe);
    const sim::Outcome outcome = watch(probe.trial, witness);
    const std::size_t own = probe.trial.plan.faults.size();
    const std::size_t before = outcome.faults.size() - std::min(own, outcome.faults.size());
    for (sim::explain::FaultWitness::Moment moment : witness.moments()) {
      if (moment.fault < before) continue;  // of the scenario file
      moment.fault -= before;
      report_.moments.push_back(std::move(moment));
    }
  }

  /// Without a passing trial the failing run is recorded only for a page.
  void record(const sim::Trial& fails, const std::optional<sim::Trial>& passes) {
    if (!passes && command_.html.empty()) return;
    const sim::RunDirectory directory;
    std::vector<sim::Trial> trials{fails};
    if (passes) trials.push_back(*passes);
    for (const sim::Trial& trial : trials) {
      const std::string path = (directory.path() / "run.recording").string();
      const Probe probe{.trial = trial};
      Follower follower(probe);
      (void)watch(trial, follower, path);
      std::ifstream file(path, std::ios::binary);
      const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file), {}};
      auto told = recording::tell(bytes);
      if (!told.story) return;
      stories_.push_back(std::move(*told.story));
    }
    if (stories_.size() < 2) return;
    if (const auto difference = recording::difference_of(stories_[0], stories_[1]))
      report_.difference = difference->text;
  }

  [[nodiscard]] bool write_page_or_say() const {
    std::vector<const recording::Story*> stories;
    for (const recording::Story& each : stories_) stories.push_back(&each);
    const std::string problem =
        stories.empty()
            ? "the failing run could not be recorded, so there is no page"
            : recording::write_story_page(stories, command_.html, sim::explain::to_json(report_));
    if (!problem.empty()) say(problem + ".");
    return problem.empty();
  }

  const ExplainCommand& command_;
  const Request& request_;
  const Clock::time_point deadline_;
  sim::Premises premises_;
  sim::explain::Report report_;
  std::vector<recording::Story> stories_;  ///< the failing run, and the passing one
};

}  // namespace

Exit explain(const ExplainCommand& command) {
  const auto request = request_or_say(command);
  if (!request) return Exit::kUsage;
  sim::scenarios::watch();
  Exit exit = Exit::kOk;
  {
    const Interruption interruption;
    exit = Explaining(command, *request).run();
    if (Interruption::came()) Interruption::end();
  }
  return exit;
}

}  // namespace anyrdma::tools
