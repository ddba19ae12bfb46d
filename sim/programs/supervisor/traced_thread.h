// A thread of an unmodified program, as the supervisor runs it: from one system call to the next,
// by ptrace(2).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/programs/process/thread.h"
#include "sim/programs/supervisor/call_retries.h"
#include "sim/programs/supervisor/named_pipe.h"

namespace anyrdma::sim::programs {

class Sandbox;

/// Made by Sandbox.
class TracedThread final : public Thread {
 public:
  TracedThread(Sandbox& sandbox, Process& process, std::string name, pid_t tid, bool is_new);

  /// The body of the thread's fiber: runs the real thread until it ends. The first run begins after
  /// `delay`.
  void live(Duration delay);
  /// Also for a stop that the kernel reported while the supervisor waited for another thread.
  void handle(const tracee::Stop& stop) override;
  /// Called when the kernel reports that the thread has ended. `status`: as of wait(2).
  void on_gone(int status);
  using Thread::ends_alone;
  using Thread::leave;
  /// The thread's current call, for reports of hangs.
  [[nodiscard]] std::string describe() const override;

  // --- waits ------------------------------------------------------------------------------------

  using Thread::looks_out;
  using Thread::on_ready;
  using Thread::watched;
  /// Opens the named pipe that the thread waits to open, before another program can remove it or
  /// close the other end. False: the thread does not wait to open one, or the other end is not
  /// open.
  [[nodiscard]] bool finish_opening();
  /// Whether the supervisor can suspend the thread while it waits to open a named pipe. False: the
  /// thread waits in the kernel.
  [[nodiscard]] bool may_wait_to_open() const { return !opens_in_kernel_; }
  /// Makes the thread retry a system call in which it is blocked, if a retry is due (CallRetries).
  /// Call when another program did something that may unblock the call.
  void on_deed();
  /// The thread retries a call that blocked before.
  [[nodiscard]] bool repeats_call() const { return repeats_; }
  /// Whether the thread is suspended in vfork(2): its child uses the same memory, and has neither
  /// executed a program nor exited.
  [[nodiscard]] bool lends() const { return lends_; }
  void on_memory_back();

  // --- time -------------------------------------------------------------------------------------

  /// Whether its next call must be preceded by a payment for earlier ones.
  [[nodiscard]] bool owes_for_calls() const { return unpaid_calls_ >= kCallsAtOnce; }
  /// How long the thread may run without a system call before the supervisor examines it, as a
  /// multiple of SandboxOptions::patience. The time grows for a thread that was found to compute.
  [[nodiscard]] unsigned patience() const { return patience_; }
  /// Records the CPU time of the thread since its start, in nanoseconds.
  void note_used(std::uint64_t used);

 private:
  void on_call();
  void on_signal(int signal);
  void stay_stopped();
  void sleep_on(Instant end);
  void on_program();
  void lend_memory(pid_t child);
  [[nodiscard]] bool is_printing(const tracee::Call& call) const;
  [[nodiscard]] bool pay_for_calls();
  [[nodiscard]] bool emulate(int signal);
  // interruptions.cc
  void on_interrupted();
  [[nodiscard]] bool wait_to_open();
  [[nodiscard]] bool wait_for_kernel();
  [[nodiscard]] bool advance();
  [[nodiscard]] std::optional<unsigned> go_round();
  void wait_in_loop(unsigned length);
  [[nodiscard]] bool computes_for_ever() const;

  Sandbox& sandbox_;
  bool is_new_;
  bool lends_ = false;
  unsigned patience_ = 1;
  unsigned interruptions_ = 0;                   ///< since its last call
  std::uint64_t used_ = 0;                       ///< of a processor, in nanoseconds
  std::optional<std::uint64_t> used_at_call_{};  ///< the last one
  int signal_ = 0;                               ///< to be delivered when it goes on
  Call call_{};                                  ///< the last one

  /// system calls that the kernel executed, and that took no virtual time yet
  static constexpr unsigned kCallsAtOnce = 64;
  unsigned unpaid_calls_ = 0;
  unsigned prints_ = 0;
  std::optional<CallRetries> retries_{};  ///< of a call that blocks in the kernel
  bool repeats_ = false;                  ///< that call is made again
  bool opens_in_kernel_ = false;  ///< whether it waits for a named pipe in the kernel, unseen
  std::optional<NamedPipe> opened_{};
};

/// All threads of a Sandbox are of this kind.
[[nodiscard]] inline TracedThread& traced(Thread& thread) {
  return static_cast<TracedThread&>(thread);
}
[[nodiscard]] inline const TracedThread& traced(const Thread& thread) {
  return static_cast<const TracedThread&>(thread);
}

}  // namespace anyrdma::sim::programs
