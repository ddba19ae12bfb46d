// Programs, hosts and what is expected of them: what a scenario file and the command line say.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/fault_plan.h"
#include "sim/options.h"
#include "verbs/time.h"

namespace anyrdma::tools {

/// A host that is to be made. `where` says who wants it, as the beginning of a sentence:
/// "file:3", "--host server=10.0.0.1".
struct PlacedHost {
  std::string name;
  std::vector<std::string> addresses;
  std::string where{};
};

/// A program that is to run on a host.
struct Placed {
  std::string host;
  std::string command;
  std::string where{};
  std::string name{};  ///< what it is called; empty: as its file
};

/// What of a program's ending and output is as it should be. Without any, it ends with 0, or in the
/// background with SIGTERM, once all others have ended.
struct Expectation {
  enum class Kind : std::uint8_t {
    kStatus,     ///< it ends with one of `statuses`
    kAnyStatus,  ///< it ends with whatever status
    kAnyEnd,     ///< or is ended by a signal
    kOutput,     ///< `text` is in a line
    kNoOutput,   ///< `text` is in none
  };
  std::string program;  ///< "client/rping"
  Kind kind = Kind::kStatus;
  std::vector<int> statuses{};
  std::string text{};
  std::string where{};
};

/// A command that judges each run by what it has left: sim/machines/verify.h.
struct VerifyCommand {
  std::string command;
  std::string where{};
  verbs::Duration limit = std::chrono::seconds(20);  ///< of real time
};

/// All faults that make sense for the scenario, in the menu: standard_menu.h.
struct StandardMenu {
  std::vector<std::string> except{};  ///< kinds that are left out: "crash"
};

/// What is to be run, whatever the seed.
struct ProgramScenario {
  std::string file{};  ///< that says so; empty: the command line alone
  std::vector<PlacedHost> hosts;
  std::vector<Placed> programs;
  std::vector<Placed> background;           ///< servers: ended once all others have
  std::vector<Expectation> expectations{};  ///< beside that all end
  std::vector<VerifyCommand> verifications{};
  /// Plans as text, each line where it is in the file.
  std::string faults{};  ///< happen in every run; empty: none
  std::string menu{};    ///< from which explore draws
  std::optional<StandardMenu> standard{};
  std::string memory{};   ///< what devices promise: a profile; empty: none named
  sim::FaultPlan plan{};  ///< that comes from elsewhere, and happens in every run, too
  std::vector<std::pair<std::string, std::string>> environment{};  ///< names and values
  std::string directory{};  ///< in which programs work; empty: that of the command
  std::string input{};      ///< the file that each program reads as its stdin; empty: nothing
  std::vector<sim::Allowance> allowed{};  ///< findings that are no mistakes here
  std::vector<std::string> denied{};      ///< checkers whose remarks are mistakes here
  bool strict = false;                    ///< what would be remarked on is a problem
  /// Of a processor's: who computes for longer without a system call is a problem.
  verbs::Duration patience = std::chrono::seconds(60);
  /// Of virtual time; a run that lasts longer is a problem.
  verbs::Duration limit = std::chrono::hours(24);
};

/// "client/rping": how a program is called in outputs, expectations and plans. Empty: its command
/// is none.
[[nodiscard]] std::string name_of(const Placed& program);

/// Where the n-th fault of a plan that a file has is, from 1: its line.
[[nodiscard]] std::size_t line_of_fault(std::string_view plan, std::size_t number);

/// What is wrong with commands and names, whatever the world they come to, as a sentence; empty:
/// nothing.
[[nodiscard]] std::string problem_with(const ProgramScenario& scenario);

}  // namespace anyrdma::tools
