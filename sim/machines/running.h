// Starts unmodified programs as processes on simulated hosts, for tests. The processes communicate
// over the world's links, also with hosts whose programs are fibers (user-space threads).
#pragma once

#include <chrono>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "sim/host_description.h"
#include "sim/machines/machines.h"
#include "sim/schedule/semaphore.h"
#include "sim/world.h"

namespace anyrdma::sim {

class Programs;

/// How a program is started. Its environment is the test's environment, changed by `environment`
/// and by the variables that the simulator sets.
struct StartOptions {
  std::map<std::string, std::string> environment{};
  std::string directory{};  ///< to work in; empty: the test's
  Duration after{};         ///< when, from now on

  /// Whether the program is a server. Programs::run does not wait until a server ends.
  bool background = false;
};

/// Directories, memory and hardware of the hosts of Programs. Paths are absolute.
struct ProgramsOptions {
  /// Directories that are common to all hosts, empty at first, and gone at the end.
  std::vector<std::string> share{};
  /// Directories of the machine that programs see, also below /tmp, /dev/shm or /run, where each
  /// host has files of its own.
  std::vector<std::string> keep{};
  unsigned huge_pages = 0;  ///< of each host, of 2 MiB
  /// Of each host that add_host() is given none for.
  HostDescription description{};
};

/// Thrown when a program cannot be started. what() is a sentence with the cause and the remedy.
class StartError final : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An unmodified program on a simulated host, in virtual time. Owned by Programs.
class RunningProgram {
 public:
  RunningProgram(Programs& programs, std::string name);
  RunningProgram(const RunningProgram&) = delete;
  RunningProgram& operator=(const RunningProgram&) = delete;

  /// "server/rping"; a second one of that name is "server/rping#2".
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] bool ended() const { return program_->status().has_value(); }
  /// Returns the exit status of the program; nullopt: the program runs, or a signal ended it.
  [[nodiscard]] std::optional<int> exit_status() const;
  /// Returns the signal that ended the program; nullopt: the program runs, or has exited.
  [[nodiscard]] std::optional<int> ending_signal() const;
  /// "ended with status 1", for messages.
  [[nodiscard]] std::string ending() const;
  /// Returns the complete lines that the program has written so far to stdout and stderr.
  [[nodiscard]] const std::string& output() const { return output_; }
  /// Of that, what went to stderr.
  [[nodiscard]] const std::string& errors() const { return errors_; }
  /// Returns a report of the last crash of the program or of one of its child processes: the
  /// signal, the stacks of the threads and the registers, in lines. Empty: no crash.
  [[nodiscard]] const std::string& crash() const { return crash_; }

  /// Sends a signal, like kill(2). No effect if the program has ended.
  void signal(int number);
  /// Kills the program with SIGKILL. The kernel of its host then closes its connections.
  void kill();
  /// Waits in virtual time until the program has ended. May be called from a fiber of the world, or
  /// from the test itself; then the world runs until the program has ended. Returns false if
  /// nothing more can happen or the world ends.
  [[nodiscard]] bool wait();

 private:
  friend class Programs;

  Programs& programs_;
  std::string name_;
  std::string purpose_;
  std::string output_;
  std::string errors_;
  std::string printed_;  ///< to stdout
  std::string crash_;
  programs::Program* program_ = nullptr;
  Semaphore ended_;
};

/// A host whose programs are processes.
class ProgramHost {
 public:
  ProgramHost(Programs& programs, Host& host) : programs_(programs), host_(host) {}

  /// Returns the host in the world, for links, faults and addresses.
  [[nodiscard]] Host& host() const { return host_; }
  [[nodiscard]] Address address(std::uint16_t port = 0) const { return host_.address(port); }
  /// Starts a program on this host. The first word of `command` is its path or its name in $PATH,
  /// the others are its arguments. Throws StartError if the program does not exist or may not be
  /// executed, or if this system forbids tracing of processes.
  RunningProgram& start(std::vector<std::string> command, const StartOptions& options = {});

 private:
  Programs& programs_;
  Host& host_;
};

/// All processes of a world's programs. Destroy this object before the world; the destructor kills
/// programs that have not ended. Use this object in the thread that created it. The test may have
/// child processes, alarms and signal handlers of its own. While the world runs, no other thread
/// and no signal handler may wait for any child, as waitpid(-1) does: it would take reports of
/// programs. Waiting for one child, as waitpid(pid) and pclose(3) do, is allowed.
class Programs {
 public:
  /// Throws StartError if the drop-in libraries cannot be found (sim/machines/drop_in.h), or if a
  /// directory of `options` does not exist.
  explicit Programs(World& world, const ProgramsOptions& options = {});
  ~Programs();
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  /// Adds a host. `words`: its addresses, or its interfaces with their addresses, for example
  /// "rail1=10.0.1.1/24" (host_interfaces.h). Each interface has an RDMA device. Throws StartError
  /// if the host cannot be created. Otherwise like World::add_host.
  ProgramHost& add_host(std::string_view name, std::initializer_list<std::string_view> words);
  /// The same for a host with other processors, memory or kernel. Throws StartError for an invalid
  /// description, too.
  ProgramHost& add_host(std::string_view name, std::initializer_list<std::string_view> words,
                        const HostDescription& description);
  /// Runs the world until all programs and all fibers that must end have ended. Fails with EDEADLK
  /// if some of them wait and nothing can happen any more, or if only timers have expired for an
  /// hour of virtual time. stuck_report() then lists the waits.
  [[nodiscard]] Result<void> run();
  /// Returns World::stuck_report, in which each waiting thread of a program has the system call
  /// that it waits in.
  [[nodiscard]] std::string stuck_report() const { return world_.stuck_report(); }
  [[nodiscard]] World& world() const { return world_; }
  /// Runs a command in real time that judges the run so far (docs/verify.md). The working directory
  /// of the command contains HOST.PROGRAM.out and HOST.PROGRAM.err for each program, `statuses`,
  /// and `recording` if WorldOptions::record names a file. Returns an empty text if the command
  /// ended with status 0, else its output. Throws StartError if there is no such command.
  [[nodiscard]] std::string verify(std::vector<std::string> command,
                                   std::chrono::milliseconds limit = std::chrono::seconds(20));

 private:
  friend class ProgramHost;
  friend class RunningProgram;

  RunningProgram& start(Host& host, std::vector<std::string>&& command,
                        const StartOptions& options);
  void take(const programs::OutputLine& line);
  void on_end(const programs::Program& program);
  void on_crash(const programs::Crash& crash);
  [[nodiscard]] bool all_ended();
  [[nodiscard]] bool nothing_more();

  World& world_;
  HostDescription description_;
  std::filesystem::path libraries_;
  std::vector<std::unique_ptr<ProgramHost>> hosts_;
  std::vector<std::unique_ptr<RunningProgram>> running_;
  Machines machines_;
};

}  // namespace anyrdma::sim
