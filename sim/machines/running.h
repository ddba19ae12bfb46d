// Programs in processes for tests: started on hosts of their own beside hosts whose programs are
// fibers, with which they talk over the world's links.
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

/// How a program is started. Its environment is that of the test, with these and ours instead.
struct StartOptions {
  std::map<std::string, std::string> environment{};
  std::string directory{};  ///< to work in; empty: the test's
  Duration after{};         ///< when, from now on
  bool background = false;  ///< it is a server: Programs::run does not wait for its end
};

/// Why a program could not be started: a sentence with the remedy.
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
  /// Its exit status; nullopt: it has not ended, or a signal ended it.
  [[nodiscard]] std::optional<int> exit_status() const;
  /// Which signal has ended it; nullopt: it has not ended, or by itself.
  [[nodiscard]] std::optional<int> ending_signal() const;
  /// "ended with status 1", for messages.
  [[nodiscard]] std::string ending() const;
  /// The whole lines that it has written so far to stdout and stderr.
  [[nodiscard]] const std::string& output() const { return output_; }
  /// Of that, what went to stderr.
  [[nodiscard]] const std::string& errors() const { return errors_; }
  /// The signal, the stacks of its threads and the registers of the last crash of it or of a child;
  /// lines. Empty: none.
  [[nodiscard]] const std::string& crash() const { return crash_; }

  /// As kill(2); nothing happens when it has ended.
  void signal(int number);
  /// SIGKILL: its host's kernel parts from its peers.
  void kill();
  /// Waits for its end in virtual time: from a fiber of the world, or from the test, while the
  /// world goes on. False: nothing can happen any more, or the world ends.
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
  /// Starts a program, by its name in $PATH or its path, with arguments. Throws StartError: there
  /// is no such program, it may not be executed, or processes may not be traced here.
  RunningProgram& start(std::vector<std::string> command, const StartOptions& options = {});

 private:
  Programs& programs_;
  Host& host_;
};

/// All programs of a world. Destroy it before the world; that kills programs that have not ended.
/// The caller must not wait for other child processes meanwhile: this object waits for all of them.
class Programs {
 public:
  /// Throws StartError: the drop-in libraries are not there (sim/machines/drop_in.h).
  explicit Programs(World& world);
  ~Programs();
  Programs(const Programs&) = delete;
  Programs& operator=(const Programs&) = delete;

  /// A host with one interface and an RDMA device that has all the addresses. Throws StartError: it
  /// cannot be made. As World::add_host.
  ProgramHost& add_host(std::string_view name, std::initializer_list<std::string_view> addresses);
  /// Runs the world until all programs and all fibers that have to end have ended. EDEADLK: some
  /// wait and nothing can happen any more, or only timers have fired for an hour of virtual time;
  /// stuck_report() lists the waits.
  [[nodiscard]] Result<void> run();
  /// World::stuck_report, with the system call that each thread of a program waits in.
  [[nodiscard]] std::string stuck_report() const { return world_.stuck_report(); }
  [[nodiscard]] World& world() const { return world_; }
  /// Judges what has happened so far by a command, outside of virtual time. The command runs in a
  /// directory with HOST.PROGRAM.out and .err of each program and `statuses`, and with `recording`
  /// if WorldOptions::record names one (docs/verify.md). Empty: its status was 0; else what it has
  /// written. Throws StartError: there is no such command.
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
