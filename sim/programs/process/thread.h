// A thread of an unmodified program in the simulated world. In the simulator it is a fiber, which
// runs the real thread from one system call to the next.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/instructions/sites.h"
#include "sim/programs/kernel/named_pipe.h"
#include "sim/programs/process/watched.h"
#include "sim/programs/supervisor/call_retries.h"
#include "sim/schedule/fiber.h"
#include "sim/schedule/scheduler.h"
#include "sim/tracee/tracee.h"
#include "transport/realtime/descriptor.h"

namespace anyrdma::sim::programs {

using tracee::Call;
using transport::realtime::Descriptor;

class Sandbox;
struct Process;

/// The outcome of a system call.
struct Outcome {
  enum class Kind : std::uint8_t {
    kMade,      ///< the kernel makes it, unchanged or changed
    kAnswered,  ///< the call is not executed; its return value is `result`
    kOver,      ///< the thread is gone
  };
  Kind kind = Kind::kMade;
  long result = 0;

  static Outcome made() { return {}; }
  static Outcome answered(long result) { return {Kind::kAnswered, result}; }
  static Outcome over() { return {Kind::kOver, 0}; }
};

/// Why a wait ended.
enum class Woken : std::uint8_t {
  kReady,
  kTimeout,
  kSignal,  ///< a signal is pending; the kernel decides what the system call returns
  kOver,    ///< the thread is gone, or the world ends
};

/// Made by Sandbox; ends with its fiber.
class Thread {
 public:
  Thread(Sandbox& sandbox, Process& process, std::string name, pid_t tid, bool is_new);
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  /// "server/rping", and "server/rping/2" for its second thread.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] tracee::Tracee& tracee() { return tracee_; }
  [[nodiscard]] pid_t tid() const { return tracee_.tid(); }
  /// As programs of the host know it.
  [[nodiscard]] pid_t number() const { return tracee::number_of(tid()); }
  [[nodiscard]] Process& process() const { return process_; }
  [[nodiscard]] Sandbox& sandbox() const { return sandbox_; }
  [[nodiscard]] Instant now() const;
  /// Whether the thread has ended, so that only this record of it is left.
  [[nodiscard]] bool is_over() const { return over_; }

  // --- for what its calls mean ------------------------------------------------------------------

  /// Suspends the thread in virtual time until wake() is called, or until `deadline`. `purpose`
  /// (what it waits for, for reports) must be a static string.
  [[nodiscard]] Woken wait(const char* purpose, std::optional<Instant> deadline = std::nullopt);
  /// Suspends the thread until one of the descriptors is ready, or until `deadline`. If `watched`
  /// is empty, only the deadline or a signal ends the wait.
  [[nodiscard]] Woken wait_for(std::vector<Watched> watched, const char* purpose,
                               std::optional<Instant> deadline = std::nullopt);
  /// Lets the kernel execute the system call that the thread is about to make, and returns its
  /// result. nullopt: the call did not return, because another event (a signal, or the thread's
  /// end) came first and was handled.
  [[nodiscard]] std::optional<long> finish_call();
  /// Call when the thread has stopped after a system call that may have made memory of its process
  /// executable. Searches the new code for instructions to replace.
  void look_at_new_code();
  /// Like look_at_new_code(), for the call of mmap(2) that the thread is about to make.
  void map_code(const Call& call);
  /// Wakes the waiting thread; it continues when its turn comes.
  void wake(Woken why);
  [[nodiscard]] bool waits() const { return waits_ && !sleeper_.empty(); }
  /// Whether one of the descriptors of wait_for() is ready. Asks the kernel.
  [[nodiscard]] bool has_ready() const;
  /// Sets a time limit for the system call that the thread is about to make: if it still blocks at
  /// `deadline`, it returns `error`.
  void limit_call(Instant deadline, int error) { call_limit_ = {deadline, error}; }
  /// Suspends the thread until something happens, as after a poll that found nothing.
  void yield();
  /// Like yield(), for a program that polls memory which another thread may write. The supervisor
  /// does not see such writes, so the program polls again soon, then less and less often: a poll
  /// takes at most one part in `share` of the virtual time since the first one. A loop without
  /// system calls costs more real time per poll than one with sched_yield(2).
  void spin(int share = kShareInLoop);
  static constexpr int kShareInLoop = 16;
  static constexpr int kShareOfYields = 256;
  /// Offers a scheduling point: other threads run first if the schedule chooses so. Returns false
  /// if this thread has ended meanwhile.
  [[nodiscard]] bool give_way();
  /// Takes time. False: it is over.
  bool spend(Duration duration);
  /// Counts a poll that found nothing. If a thread polls repeatedly, virtual time advances by more
  /// and more, since otherwise nothing could ever happen. Returns false if the thread has ended.
  [[nodiscard]] bool look_in_vain();
  void note_found() { vain_looks_ = 0; }
  /// Returns the virtual time that a clock reading takes. It grows while a thread does nothing but
  /// read clocks.
  [[nodiscard]] Duration cost_of_look();
  /// Returns a duplicate, in this process, of a descriptor of the program. Empty: the program has
  /// no such descriptor.
  [[nodiscard]] Descriptor borrow(int fd) const;

  // --- for the supervisor -----------------------------------------------------------------------

  /// Notes that the thread has called exit(2), which ends only this thread and not its process.
  void set_ends_alone() { ends_alone_ = true; }
  /// The thread's current call, for reports of hangs.
  [[nodiscard]] std::string describe() const;
  /// Handles a stop of this thread that the kernel reported while the supervisor waited for another
  /// thread.
  void handle(const tracee::Stop& stop);
  /// Sets the signals that the thread blocks while it waits, as ppoll(2) does. nullopt: the
  /// thread's usual mask.
  void set_mask(std::optional<std::uint64_t> mask) { mask_ = mask; }
  [[nodiscard]] std::optional<std::uint64_t> mask() const { return mask_; }
  [[nodiscard]] Woken wait_for_child();

 private:
  friend class Sandbox;

  // --- for Sandbox ------------------------------------------------------------------------------

  /// Whether the thread waits for descriptors, or is about to wait for them. While it does, call
  /// on_ready() when one becomes ready.
  [[nodiscard]] bool looks_out() const { return parking_ || waits(); }
  [[nodiscard]] const std::vector<Watched>& watched() const { return watched_; }
  void on_ready();
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
  /// Returns the virtual time that a clock reading takes in a thread that reads the time without a
  /// system call (SharedClock).
  [[nodiscard]] Duration cost_of_reading() const;
  /// Whether its next call must be preceded by a payment for earlier ones.
  [[nodiscard]] bool owes_for_calls() const { return unpaid_calls_ >= kCallsAtOnce; }
  void note_readings(std::uint64_t readings);
  /// The body of the thread's fiber: runs the real thread until it ends. The first run begins after
  /// `delay`.
  void live(Duration delay);
  /// Called when the kernel reports that the thread has ended. `status`: as of wait(2).
  void on_gone(int status);
  /// Marks the thread as ended, even if the kernel still reports events of it.
  void leave();
  [[nodiscard]] bool ends_alone() const { return ends_alone_; }
  /// How long the thread may run without a system call before the supervisor examines it, as a
  /// multiple of SandboxOptions::patience. The time grows for a thread that was found to compute.
  [[nodiscard]] unsigned patience() const { return patience_; }
  /// Records the CPU time of the thread since its start, in nanoseconds.
  void note_used(std::uint64_t used);
  /// Whether the thread is suspended in vfork(2): its child uses the same memory, and has neither
  /// executed a program nor exited.
  [[nodiscard]] bool lends() const { return lends_; }
  void on_memory_back();
  [[nodiscard]] bool waits_for_child() const { return for_child_; }

  // --- for the thread itself --------------------------------------------------------------------

  class Alarm;

  [[nodiscard]] Woken park(const char* purpose, std::optional<Instant> deadline);
  void on_call();
  void on_interrupted();
  [[nodiscard]] bool wait_to_open();
  [[nodiscard]] bool wait_for_kernel();
  [[nodiscard]] bool advance();
  [[nodiscard]] bool is_printing(const tracee::Call& call) const;
  [[nodiscard]] std::optional<unsigned> go_round();
  void wait_in_loop(unsigned length);
  [[nodiscard]] bool computes_for_ever() const;
  [[nodiscard]] bool pay_for_calls();
  void on_signal(int signal);
  void on_program();
  void lend_memory(pid_t child);
  void remark_on_code(const std::string& file);
  [[nodiscard]] std::optional<unsigned> time_stamp_at(std::uint64_t address) const;
  [[nodiscard]] bool emulate(int signal);
  void read_time_stamp(user_regs_struct registers, unsigned length);
  void draw(user_regs_struct registers, const instructions::Site& site);
  void tell_processor(user_regs_struct registers, const instructions::Site& site);
  void tell_identity(user_regs_struct registers, const instructions::Site& site);

  Sandbox& sandbox_;
  Process& process_;
  std::string name_;
  tracee::Tracee tracee_;
  bool is_new_;
  bool over_ = false;
  bool ends_alone_ = false;
  bool for_child_ = false;  ///< it waits for the end of one
  bool lends_ = false;
  unsigned patience_ = 1;
  unsigned interruptions_ = 0;                   ///< since its last call
  std::uint64_t used_ = 0;                       ///< of a processor, in nanoseconds
  std::optional<std::uint64_t> used_at_call_{};  ///< the last one
  int signal_ = 0;                               ///< to be delivered when it goes on
  Call call_{};                                  ///< the last one
  unsigned looks_ = 0;                           ///< at the clock, since it did anything else
  unsigned spins_ = 0;                           ///< since it did anything else
  Instant spins_since_{};
  unsigned vain_looks_ = 0;  ///< since it found something, or waited

  /// system calls that the kernel executed, and that took no virtual time yet
  static constexpr unsigned kCallsAtOnce = 64;
  unsigned unpaid_calls_ = 0;
  unsigned prints_ = 0;
  std::optional<std::uint64_t> mask_;
  struct CallLimit {
    Instant deadline;
    int error;
  };
  std::optional<CallRetries> retries_{};  ///< of a call that blocks in the kernel
  std::optional<CallLimit> call_limit_{};
  bool repeats_ = false;          ///< that call is made again
  bool opens_in_kernel_ = false;  ///< whether it waits for a named pipe in the kernel, unseen

  // While it waits.
  bool waits_ = false;
  bool parking_ = false;  ///< whether it gives up the processor before it waits
  bool ready_ = false;    ///< meanwhile something has become so
  std::optional<NamedPipe> opened_{};
  Woken woken_{};
  FiberList sleeper_;
  std::vector<Watched> watched_;
};

}  // namespace anyrdma::sim::programs
