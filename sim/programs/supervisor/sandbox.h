// The supervisor of unmodified programs in a simulated world. It controls their time, scheduling
// and waits with ptrace(2). Of all threads of all programs, one runs at a time, from one system
// call to the next.
#pragma once

#include <poll.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/host.h"
#include "sim/programs/kernel/kernel.h"
#include "sim/programs/kernel/realms.h"
#include "sim/programs/net/sockets.h"
#include "sim/programs/process/process.h"
#include "sim/programs/process/program.h"
#include "sim/programs/process/supervisor.h"
#include "sim/programs/supervisor/crash.h"
#include "sim/programs/supervisor/debugger.h"
#include "sim/programs/supervisor/traced_thread.h"
#include "sim/programs/syscalls/guard_points.h"
#include "sim/schedule/random_stream.h"
#include "sim/tracee/one_processor.h"
#include "sim/tracee/time_stamps.h"
#include "sim/tracee/waiter.h"
#include "sim/uplink.h"
#include "sim/world.h"
#include "verbs/result.h"

namespace anyrdma::sim::programs {

struct SandboxOptions {
  /// The virtual time that an emulated system call takes.
  Duration call_cost = std::chrono::nanoseconds(200);
  /// The date at the beginning of the world.
  Duration wall_clock = std::chrono::seconds(1'767'225'600);  ///< 2026-01-01 00:00:00 UTC

  /// The CPU time without a system call after which the supervisor checks whether a thread only
  /// waits for a change of memory. The check has no effect on a thread that computes.
  std::chrono::microseconds patience = std::chrono::milliseconds(5);
  /// Whether instructions that read the time stamp counter are replaced by trapping ones, because
  /// the processor cannot trap them itself.
  bool replace_time_stamps = !tracee::time_stamps_can_be_forbidden();
  /// The CPU time without a system call after which the supervisor stops a thread as endless;
  /// overrun() then names it.
  std::chrono::nanoseconds processor_time = std::chrono::seconds(60);
  /// Called from time to time while a thread runs without a system call. If it returns true, the
  /// thread is stopped, and other threads and the runner of the world continue. May be empty.
  std::function<bool()> interrupted{};
  /// The directory for files of the run; empty: the directory for temporary files.
  std::filesystem::path directory{};
  /// Returns files that the programs of a host see in place of others, for example /etc/hosts.
  std::function<std::vector<std::pair<std::string, std::string>>(const Host&)> files{};
  /// Directories that hosts do not have for themselves, although they are below /tmp, /dev/shm or
  /// /run, and directories that the hosts of the run have in common (sim/tracee/own_directories.h).
  tracee::CommonDirectories common{};
  /// The number of huge pages of each host, of 2 MiB (huge_pages.h).
  unsigned huge_pages = 0;
  /// Called when the number of free huge pages of a host may have changed. May be empty.
  std::function<void(const Host&, unsigned free)> on_huge_pages{};
  /// The pool of namespace sets for the run; null: the run creates its own.
  Realms* realms = nullptr;
  std::function<void(const OutputLine&)> on_output{};
  /// Called when a program has ended, after on_output was called for all its output.
  std::function<void(const Program&)> on_end{};
  /// Called when a process is about to be ended by a signal for which is_crash() is true; its
  /// threads have stopped. Empty: no stacks are read.
  std::function<void(const Crash&)> on_crash{};
  /// Called when a program is about to end by itself, in that thread of its first process; the
  /// memory and the stack are still there. `status`: as of wait(2). May be empty.
  std::function<void(const Program&, std::string_view thread, int status)> on_exit{};
  /// Whether Crash contains the registers and the stacks of all threads, or only ten frames of the
  /// crashed thread.
  bool all_stacks = true;
  /// Of all programs; null: none.
  Debugger* debugger = nullptr;
  /// Called with each system call that stops a thread. May be empty.
  std::function<void(Instant, std::string_view thread, std::string_view call)> on_call{};
  /// Called with remarks for the user, each once: unknown system calls, for
  /// example, after which the run may not be reproducible.
  std::function<void(std::string_view)> on_remark{};
  /// Called with a sentence when a program first asks for a fact that differs between machines
  /// (docs/limits.md). Empty: such facts are not looked for.
  std::function<void(std::string_view)> on_fact{};
};

class Sandbox;

/// Adds an address to a network interface of the host, or removes it, as its programs see it
/// (getifaddrs(3), rtnetlink(7)).
void change_address(Sandbox& sandbox, const Host& host, const std::string& interface,
                    const Prefix& prefix, bool added);

/// Starts and traces all programs of a world, with ptrace(2). Use it only in the thread that
/// created it. Destroy it before the world; the destructor kills the remaining programs.
class Sandbox final : private Supervisor {
 public:
  explicit Sandbox(World& world, SandboxOptions options = {});
  ~Sandbox() override;
  Sandbox(const Sandbox&) = delete;
  Sandbox& operator=(const Sandbox&) = delete;

  [[nodiscard]] bool is_interrupted() const {
    return (options_.interrupted && options_.interrupted()) ||
           (options_.debugger != nullptr && options_.debugger->ends_run());
  }

  /// Starts a program on a host. Errors: EPERM if processes may not be traced on this machine; else
  /// those of execve(2).
  [[nodiscard]] verbs::Result<Program*> start(Host& host, std::string_view name,
                                              ProgramOptions options);
  [[nodiscard]] const std::vector<std::unique_ptr<Program>>& programs() const { return programs_; }
  /// Whether all programs have ended, except those in the background.
  [[nodiscard]] bool all_ended() const;
  /// Returns a sentence about a thread that was stopped because it computed without end; empty:
  /// none was.
  [[nodiscard]] const std::string& overrun() const { return overrun_; }
  /// Ends all processes on a host that has lost its power.
  void crash(const Host& host);
  /// Kills all processes of the host. The kernel closes their descriptors as for any process.
  void kill(const Host& host);
  /// Kills the `number`-th program (from 1) of that name on the host, but not the child processes
  /// of the program. Returns false if there is no such program, or it has ended.
  bool kill(const Host& host, std::string_view name, std::uint32_t number);
  /// Stops or continues a program (`threads` selects it by name and number) or one of its threads,
  /// but not its child processes. Without a thread number, all threads except those of the
  /// simulated device are stopped. Returns whether the state changed; nullopt: no such program, or
  /// it has ended.
  std::optional<bool> set_paused(const Host& host, const Uplink::Threads& threads, bool paused);
  /// Restarts a program, as start() does, on a host that has crashed and was restarted. ECANCELED:
  /// the sandbox is being destroyed.
  [[nodiscard]] verbs::Result<void> start_again(Program& program);
  /// Sends a signal to a program that has not ended.
  void signal(const Program& program, int number);
  /// Returns the time of the last action of any program other than waiting: a write, a send, a
  /// start or an end. While a thread sleeps with a timeout, the result is the current time.
  [[nodiscard]] Instant last_deed() const { return sleepers_ != 0 ? world_.now() : last_deed_; }
  /// A handler that moves data of programs, and the descriptors that show when it must run.
  struct Pump {
    std::function<void()> run = [] {};
    std::vector<int> descriptors{};  ///< readable when there may be something
  };
  /// Sets the handler that moves data between programs. The sandbox calls the handler before
  /// another thread runs, if programs have written data or one of its descriptors is readable.
  void set_pump(Pump pump) { pump_ = std::move(pump); }

  [[nodiscard]] World& world() override { return world_; }
  [[nodiscard]] const SandboxOptions& options() const { return options_; }
  [[nodiscard]] const std::vector<std::unique_ptr<Process>>& processes() const override {
    return processes_;
  }
  /// The next stop of a thread that runs already.
  [[nodiscard]] tracee::Stop await(Thread& thread);
  void look() override;
  void note_deed() override {
    note_time_of_deed();
    ++deeds_;
  }

 private:
  friend class TracedThread;

  // --- for system calls -------------------------------------------------------------------------

  [[nodiscard]] RandomStream& random() override { return random_; }
  [[nodiscard]] Duration call_cost() const override { return options_.call_cost; }
  [[nodiscard]] Duration wall_clock() const override { return options_.wall_clock; }
  [[nodiscard]] Kernel& kernel() override { return kernel_; }
  [[nodiscard]] Sockets& sockets() override { return sockets_; }
  [[nodiscard]] SocketState& socket_state() override { return sockets_; }
  [[nodiscard]] GuardPoints& guard_points() override { return guard_points_; }
  [[nodiscard]] tracee::Stop run(Thread& thread, int signal) override;
  [[nodiscard]] tracee::Stop run_to_return(Thread& thread) override;
  void end_turn() override;
  void close_pages() override;
  void watch(Thread& thread) override { watchers_.push_back(&traced(thread)); }
  void unwatch(Thread& thread) override { std::erase(watchers_, &traced(thread)); }
  void expect_signals() override { signals_expected_ = true; }
  void interrupt_waits() override;
  void await_ends(std::span<Process* const> processes) override;
  void begin_sleep() override { ++sleepers_; }
  void end_sleep() override {
    --sleepers_;
    note_deed();
  }
  void remark(const std::string& text) override;
  void note_objects(const Host& host) override;
  void spoil_realms() override { realms_spoiled_ = true; }

  // --- for TracedThread
  // -------------------------------------------------------------------------------

  /// Allows the thread to use the memory that its process shares with the supervisor. The thread
  /// may then write entries (sim/points/entry_queue.h), and read its clock
  /// (sim/points/clock_page.h) until other threads are ready or an event is due. No effect if it is
  /// allowed already.
  void open_pages(TracedThread& thread);
  /// Runs the thread by one instruction.
  [[nodiscard]] tracee::Stop step(TracedThread& thread);
  /// The thread makes a system call, whose effects are to be looked at before it passes a
  /// scheduling point.
  void note_call_in_kernel() { settled_ = false; }
  [[nodiscard]] TracedThread* find_thread_by_tid(pid_t tid);
  /// Waits until the kernel has ended a process that was killed or is ending.
  void await_end(Process& process);
  void on_new_thread(Thread& maker, pid_t tid);
  Process& on_new_process(Thread& maker, pid_t pid);
  /// Waits until the kernel continues the parent's thread that waits in vfork(2) for a process.
  /// Call when the process no longer uses the memory of its parent.
  void await_lender(Process& process);
  /// Reports a crash (SandboxOptions::on_crash) if the signal that is about to be delivered to a
  /// thread ends the process by an error such as SIGSEGV.
  void note_signal(TracedThread& thread, int signal);
  /// Handles the end of a thread, which is about to happen. `status`: as of wait(2).
  void end(TracedThread& thread, int status);
  void on_thread_gone(TracedThread& thread, int status);
  /// Wakes who waits for a futex or a lock that threads of the process have left at their end.
  void on_words_left(const Process& process);
  /// The last thread of a process has gone.
  void on_process_gone(Process& process, int status);
  void note_overrun(const TracedThread& thread);
  void watch_blocked(TracedThread& thread) { blocked_.push_back(&thread); }
  void unwatch_blocked(TracedThread& thread) { std::erase(blocked_, &thread); }
  void watch_opening(TracedThread& thread) { openers_.push_back(&thread); }
  void unwatch_opening(TracedThread& thread) { std::erase(openers_, &thread); }
  /// Stores a stop of a thread whose turn has not come; it is handled when the thread runs next.
  void note_early(const tracee::Stop& stop) { early_.push_back(stop); }

  // --- for the sandbox itself -------------------------------------------------------------------

  [[nodiscard]] verbs::Result<void> launch(Program& program);
  [[nodiscard]] Process* find_process(pid_t pid);
  [[nodiscard]] Program* find(const Host& host, std::string_view name, std::uint32_t number) const;
  Process& adopt(pid_t pid, Process* parent, Host& host, Program& program, std::string name);
  TracedThread& add_thread(Process& process, pid_t tid, bool is_new, Duration delay = {});
  void note_ending(TracedThread& thread, int status);
  void tell_crash(TracedThread& thread, int signal);
  void on_other(const tracee::Stop& stop);
  void on_tick(TracedThread& running);
  [[nodiscard]] std::vector<pid_t> living_threads() const;
  void note_time_of_deed() { last_deed_ = world_.now(); }
  [[nodiscard]] bool poll_all(std::span<const int> more);
  bool wake_ready();
  bool wake_openers();
  [[nodiscard]] std::uint64_t points_to_pass(const TracedThread& thread);
  /// Whether a descriptor of the thread is the pipe of its program's standard output.
  [[nodiscard]] bool is_output(const Thread& thread, std::uint64_t descriptor) const;
  /// Takes the lines that programs have written: they bear the time of now.
  void read_output();
  void read_stream(Program& program, Program::Stream& stream, bool error);
  [[nodiscard]] const tracee::Realm* realm_of(const Host& host);
  friend void change_address(Sandbox& sandbox, const Host& host, const std::string& interface,
                             const Prefix& prefix, bool added);
  void give_realms_back();
  [[nodiscard]] static bool others_live(const TracedThread& thread);

  tracee::OneProcessor processor_;
  World& world_;
  SandboxOptions options_;
  tracee::Waiter waiter_{options_.patience};
  RandomStream& random_;
  Kernel kernel_;
  GuardPoints guard_points_;
  Sockets sockets_{*this, options_.directory};
  struct Taken {
    RealmOptions options;
    std::unique_ptr<tracee::Realm> realm;
  };
  std::map<const Host*, Taken> realms_;
  bool realms_spoiled_ = false;
  std::vector<std::unique_ptr<Program>> programs_;
  std::vector<std::unique_ptr<Process>> processes_;
  TracedThread* reader_ = nullptr;       ///< whose pages are open
  Duration cost_of_reading_{};           ///< of its
  std::vector<TracedThread*> watchers_;  ///< those that wait for descriptors, in this order
  std::vector<TracedThread*>
      blocked_;  ///< threads that wait in a system call which blocks in the kernel
  std::vector<TracedThread*> openers_;  ///< those that wait to open a named pipe
  std::vector<tracee::Stop> early_;     ///< stops of threads that are not known yet, or do not run
  std::set<std::string> remarks_;       ///< that were made
  std::string overrun_;
  Pump pump_;
  std::vector<pollfd> polled_;   ///< by poll_all
  unsigned ticks_ = 0;           ///< since the running thread was let go
  unsigned still_ = 0;           ///< consecutive last ticks in which the thread did nothing
  std::uint64_t last_used_ = 0;  ///< of a processor, at the last of them
  std::uint64_t used_ = 0;       ///< of a processor, by the running thread
  Instant last_deed_{};
  unsigned sleepers_ = 0;
  bool closing_ = false;
  bool signals_expected_ = false;
  bool settled_ = false;          ///< whether no thread has run since a turn ended
  std::uint64_t settled_at_ = 0;  ///< at which step of the world that turn ended
  std::uint64_t deeds_ = 0;
  std::uint64_t deeds_seen_ = 0;
};

}  // namespace anyrdma::sim::programs
