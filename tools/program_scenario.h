// A scenario of unmodified programs, from a scenario file or the command line: hosts, programs, and
// the expected results.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/fault_plan.h"
#include "sim/host_description.h"
#include "sim/options.h"
#include "verbs/time.h"

namespace anyrdma::tools {

/// A host to create. `where`: what asks for it, as the beginning of an error message: "file:3",
/// "--host server=10.0.0.1".
struct PlacedHost {
  std::string name;
  std::vector<std::string> addresses;
  std::string where{};
};

/// A line of the file, or an option, about the hardware or the kernel of hosts.
struct HostLine {
  enum class What : std::uint8_t { kProcessors, kMemory, kKernel };
  std::string host{};  ///< empty: all hosts
  What what = What::kProcessors;
  sim::HostDescription said{};  ///< of which the line sets one
  std::string where{};
};

/// A program that is to run on a host.
struct Placed {
  std::string host;
  std::string command;
  std::string where{};
  std::string name{};  ///< what it is called; empty: as its file
};

/// The expected end and output of a program. By default, a program must end with status 0; a
/// background program may be ended with SIGTERM after all others.
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

/// A command that judges each run by the files that the run has written: sim/machines/verify.h.
struct VerifyCommand {
  std::string command;
  std::string where{};
  verbs::Duration limit = std::chrono::seconds(20);  ///< of real time
};

/// Requests all faults that make sense for the scenario in the menu (the list of candidate faults):
/// standard_menu.h.
struct StandardMenu {
  std::vector<std::string> except{};  ///< kinds that are left out: "crash"
};

/// The largest numbers of hosts and of programs in a scenario: more than the system gives
/// descriptors, processes and memory for.
inline constexpr std::size_t kHostsMax = 1000;
inline constexpr std::size_t kProgramsMax = 4000;

/// What is to be run, whatever the seed.
struct ProgramScenario {
  std::string file{};  ///< that says so; empty: the command line alone
  std::vector<PlacedHost> hosts;
  std::vector<HostLine> host_lines{};  ///< host_lines.h
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
  /// Directories that are not each host's own, and where programs see them; of the run: without the
  /// first.
  std::vector<std::pair<std::string, std::string>> common{};
  unsigned huge_pages = 0;  ///< of each host, of 2 MiB
  std::string directory{};  ///< in which programs work; empty: that of the command
  std::string input{};      ///< the file that each program reads as its stdin; empty: nothing
  std::vector<sim::Allowance> allowed{};  ///< findings that are no mistakes here
  std::vector<std::string> denied{};      ///< checkers whose remarks are mistakes here
  /// The files of programs, by the words that their commands have for them; of a bundle.
  std::map<std::string, std::string> copies{};
  bool buffered = false;  ///< standard output is buffered as stdio does it for a pipe
  bool strict = false;    ///< what would be remarked on is a problem
  /// Of a processor's: who computes for longer without a system call is a problem.
  verbs::Duration patience = std::chrono::seconds(60);
  /// Of virtual time; a run that lasts longer is a problem.
  verbs::Duration limit = std::chrono::hours(24);
};

/// Returns the name of a program in outputs, expectations and fault plans, such as "client/rping".
/// Empty: its command is empty.
[[nodiscard]] std::string name_of(const Placed& program);

/// Returns the line, from 1, of the n-th fault in the text of a plan.
[[nodiscard]] std::size_t line_of_fault(std::string_view plan, std::size_t number);

/// Returns a sentence about the first invalid command or name in the scenario, independent of its
/// world. Empty: all are valid.
[[nodiscard]] std::string problem_with(const ProgramScenario& scenario);

/// Returns the variables that a host's programs, and each program that these execute, are to have:
/// those of the host, and what the scenario adds to them.
[[nodiscard]] std::map<std::string, std::string> kept_on(
    const ProgramScenario& scenario, std::map<std::string, std::string> of_host);

}  // namespace anyrdma::tools
