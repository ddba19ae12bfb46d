// One run of unmodified programs on simulated hosts: what `anyrdma sim`, `explore` and `replay`
// have in common.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>

#include "sim/explore/trial.h"
#include "tools/exit.h"
#include "tools/program_scenario.h"

namespace anyrdma::recording {
class Tape;
}
namespace anyrdma::sim {
class Premises;
class World;
}  // namespace anyrdma::sim
namespace anyrdma::sim::programs {
class Debugger;
class Sandbox;
}  // namespace anyrdma::sim::programs

namespace anyrdma::tools {

/// The output that runs of one trial have printed, so that a further run does not print it again.
class LinesSaid {
 public:
  /// Of the line of that number, from 1, which is about to be printed.
  [[nodiscard]] bool is_new(std::size_t number) {
    if (number <= count_) return false;
    count_ = number;
    return true;
  }

 private:
  std::size_t count_ = 0;
};

struct SimulationOptions {
  bool print = false;     ///< what programs say, as they say it
  bool raw = false;       ///< with their control characters, which are escaped otherwise
  bool calls = false;     ///< their system calls
  bool trace = false;     ///< is kept
  bool capture = false;   ///< packets are
  std::string record{};   ///< file for all that happens; empty: none
  std::string program{};  ///< for the recording: what runs, ...
  std::string command{};  ///< ... and which command reproduces it
  std::string output{};   ///< directory for what programs say, a file each; empty: none
  bool times = false;     ///< precede the lines in these files
  std::set<std::string>* code = nullptr;  ///< gets the files that programs run; null: not wanted
  std::string cores{};                    ///< directory for core files at a failure; empty: none
  bool check_menu = false;                ///< whether what may be drawn could happen
  bool stacks = false;  ///< print the stacks of all threads at a deadlock, a limit and a crash
  bool verify = false;  ///< the file's commands will judge: Simulation::verify
  /// Called while it runs. True ends the run, and the problem lists the state of all threads. May
  /// be empty.
  std::function<bool()> interrupted{};
  verbs::Duration call_cost = std::chrono::nanoseconds(200);  ///< what a system call takes of it
  sim::Premises* premises = nullptr;                          ///< of runs before and after this one
  sim::programs::Debugger* debugger = nullptr;                ///< null: none
  /// Takes the recording at the beginning of the run, to read it while the run goes on. May be
  /// empty.
  std::function<void(std::shared_ptr<const recording::Tape>)> on_tape{};
  LinesSaid* lines_said = nullptr;  ///< by runs of this trial; null: each prints all
};

class Simulation {
 public:
  /// Creates a world with the trial's seed, schedule and faults. `scenario` must outlive the
  /// object.
  Simulation(const ProgramScenario& scenario, const sim::Trial& trial,
             const SimulationOptions& options);
  ~Simulation();
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Creates the hosts and starts the programs. Returns kUsage, kFailed, kUnknownProgram or
  /// kNotExecutable after an error message.
  [[nodiscard]] Exit build();
  /// Runs until all programs have ended, or no event is pending. The problem names each program
  /// that did not do what the file expects.
  [[nodiscard]] sim::Outcome run();
  /// Destroys the world and runs the commands of the file's `verify` lines. The commands can read
  /// `problem`, the problems found so far. Returns the problems that the commands report; empty:
  /// none. Call it last.
  [[nodiscard]] std::string verify(std::string_view problem);
  /// Lines that say where the core files of a failed run are.
  [[nodiscard]] std::string cores() const;
  /// A line for each program: how it ended.
  [[nodiscard]] std::string endings() const;
  [[nodiscard]] sim::World& world();
  /// The supervisor of the programs.
  [[nodiscard]] sim::programs::Sandbox& sandbox();

 private:
  class Run;
  const std::function<bool()> interrupted_;
  const std::string trial_;
  std::unique_ptr<Run> run_;
};

}  // namespace anyrdma::tools
