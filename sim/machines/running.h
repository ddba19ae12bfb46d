// Starts unmodified programs as processes on simulated hosts, for tests. They communicate over the
// world's links, also with hosts whose programs are fibers.
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

#include "sim/machines/machines.h"
#include "sim/schedule/semaphore.h"
#include "sim/world.h"

namespace anyrdma::sim {

class Programs;

/// How a program is started. Its environment is the test's environment, changed by `environment`
/// and by the variables that the simulator needs.
struct StartOptions {
  std::map<std::string, std::string> environment{};
  std::string directory{};  ///< to work in; empty: the test's
  Duration after{};         ///< when, from now on
  bool background = false;  ///< whether it is a server, whose end Programs::run does not await
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
  /// The exit status of the program; nullopt: it has not ended, or a signal ended it.
  [[nodiscard]] std::optional<int> exit_status() const;
  /// The signal that ended the program; nullopt: it has not ended, or no signal ended it.
  [[nodiscard]] std::optional<int> ending_signal() const;
  /// "ended with status 1", for messages.
  [[nodiscard]] std::string ending() const;
  /// The complete lines that the program has written so far to stdout and stderr.
  [[nodiscard]] const std::string& output() const { return output_; }
  /// Of that, what went to stderr.
  [[nodiscard]] const std::string& errors() const { return errors_; }
  /// A report of the last crash of the program or of one of its child processes: the signal, the
  /// stacks of the threads and the registers, in lines. Empty: no crash.
  [[nodiscard]] const std::string& crash() const { return crash_; }

  /// As kill(2); nothing happens when it has ended.
  void signal(int number);
  /// SIGKILL: its host's kernel parts from its peers.
  void kill();
  /// Waits in virtual time until the program has ended. Called from a fiber of the world; or from
  /// the test, and then the world runs meanwhile. Returns false if nothing more can happen or the
  /// world ends.
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

  /// Its place in the world: for links, faults, addresses.
  [[nodiscard]] Host& host() const { return host_; }
  [[nodiscard]] Address address(std::uint16_t port = 0) const { return host_.address(port); }
  /// Starts a program, given by its path or its name in $PATH, with arguments. Throws StartError if
  /// the program does not exist or may not be executed, or if processes may not be traced here.
  RunningProgram& start(std::vector<std::string> command, const StartOptions& options = {});

 private:
  Programs& programs_;
  Host& host_;
};

/// All processes of a world's programs. Destroy this object before the world; the destructor kills
/// programs that have not ended. The object waits for all child processes of the test, so the test
/// must not wait for other child processes meanwhile.
class Programs {
 public:
  /// Throws StartError: the drop-in libraries are not there (sim/machines/drop_in.h).
  explicit Programs(World& world);
  ~Programs();
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  /// Adds a host with one interface and one RDMA device, which has all the addresses. Throws
  /// StartError if the host cannot be created. Otherwise like World::add_host.
  ProgramHost& add_host(std::string_view name, std::initializer_list<std::string_view> addresses);
  /// Runs the world until all programs and all fibers that must end have ended. EDEADLK: some are
  /// waiting and nothing can happen any more, or only timers have expired for an hour of virtual
  /// time; stuck_report() lists the waits.
  [[nodiscard]] Result<void> run();
  /// World::stuck_report, with the system call that each thread of a program waits in.
  [[nodiscard]] std::string stuck_report() const { return world_.stuck_report(); }
  [[nodiscard]] World& world() const { return world_; }
  /// Runs a command in real time that judges the run so far (docs/verify.md). Its working directory
  /// contains HOST.PROGRAM.out and HOST.PROGRAM.err for each program, `statuses`, and `recording`
  /// if WorldOptions::record names a file. Returns an empty text if the command's status was 0;
  /// else what it has written. Throws StartError if there is no such command.
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
  std::filesystem::path libraries_;
  std::vector<std::unique_ptr<ProgramHost>> hosts_;
  std::vector<std::unique_ptr<RunningProgram>> running_;
  Machines machines_;
};

}  // namespace anyrdma::sim
