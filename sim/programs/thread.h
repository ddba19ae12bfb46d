// A thread of a program in the world: a fiber whose body runs in another process, from one system
// call to the next.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/instructions/sites.h"
#include "sim/programs/call_retries.h"
#include "sim/programs/named_pipe.h"
#include "sim/programs/watched.h"
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
    kAnswered,  ///< the call is not executed; `result` is its return value
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
  kSignal,  ///< one is pending that the thread takes: the kernel knows what that means for a call
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
  /// Of whose life nothing is left but its record.
  [[nodiscard]] bool is_over() const { return over_; }

  // --- for what its calls mean ------------------------------------------------------------------
  /// Parks the thread until it is woken. `purpose` must be a static string.
  [[nodiscard]] Woken wait(const char* purpose, std::optional<Instant> deadline = std::nullopt);
  /// Waits until one of the descriptors is ready. Empty: waits only for the time.
  [[nodiscard]] Woken wait_for(std::vector<Watched> watched, const char* purpose,
                               std::optional<Instant> deadline = std::nullopt);
  /// Lets the kernel execute the call that the thread is about to make, and gives its return value.
  /// nullopt: the call did not return, and the thread's other event has been handled.
  [[nodiscard]] std::optional<long> finish_call();
  /// Its process may have made some executable. It has stopped.
  void look_at_new_code();
  /// Like look_at_new_code(), for the call of mmap(2) that the thread is about to make.
  void map_code(const Call& call);
  /// Wakes the waiting thread; it continues when its turn comes.
  void wake(Woken why);
  [[nodiscard]] bool waits() const { return waits_ && !sleeper_.empty(); }
  /// Of wait_for: whether one of them is ready. Asks the kernel.
  [[nodiscard]] bool has_ready() const;
  /// Whether the thread waits for descriptors or is about to: on_ready reports descriptors that
  /// become ready.
  [[nodiscard]] bool looks_out() const { return parking_ || waits(); }
  [[nodiscard]] const std::vector<Watched>& watched() const { return watched_; }
  void on_ready();
  /// Whether the thread waits to open a named pipe that could be opened now.
  [[nodiscard]] bool can_open() const { return opened_ && opened_->has_partner(); }
  /// Whether the thread may wait to open a file under the supervisor's control. False: the kernel
  /// makes it wait.
  [[nodiscard]] bool may_wait_to_open() const { return !opens_in_kernel_; }
  /// The thread is blocked in a system call, and a program did something that may unblock it.
  void on_deed();
  /// The thread retries a call that blocked before.
  [[nodiscard]] bool repeats_call() const { return repeats_; }
  /// The call that it is about to make returns `error` at that time if it blocks until then.
  void limit_call(Instant deadline, int error) { call_limit_ = {deadline, error}; }
  /// Yields until something happens, as a program does after an empty poll.
  void yield();
  /// As yield(), for a program that may wait for another thread to write memory, which the world
  /// does not see: it polls again soon, then more and more rarely.
  void spin();
  /// Lets others go on first where the schedule says so. False: it is over.
  [[nodiscard]] bool give_way();
  /// Takes time. False: it is over.
  bool spend(Duration duration);
  /// Counts an empty poll. A thread that polls again and again lets virtual time pass, more and
  /// more, or nothing would ever come. False: the thread has ended.
  [[nodiscard]] bool look_in_vain();
  void note_found() { vain_looks_ = 0; }
  /// The cost of a clock reading: more and more for a thread that does nothing else.
  [[nodiscard]] Duration cost_of_look();
  /// Like the function above, for a thread that reads the time without a system call (SharedClock).
  [[nodiscard]] Duration cost_of_reading() const;
  void note_readings(std::uint64_t readings);
  /// A duplicate of the program's descriptor; empty: it has none of that number.
  [[nodiscard]] Descriptor borrow(int fd) const;

  // --- for the sandbox --------------------------------------------------------------------------
  /// The body of its fiber. It begins after `delay`.
  void live(Duration delay);
  /// The kernel says that it has ended, with a status as of wait(2).
  void on_gone(int status);
  /// The thread no longer runs, whatever the kernel still reports about it.
  void leave();
  /// The thread has announced its own end, not that of its process.
  void set_ends_alone() { ends_alone_ = true; }
  [[nodiscard]] bool ends_alone() const { return ends_alone_; }
  /// The thread's current call, for reports of hangs.
  [[nodiscard]] std::string describe() const;
  /// How much longer the thread may run without a call before the next check. The time grows for a
  /// thread that was found to compute.
  [[nodiscard]] unsigned patience() const { return patience_; }
  /// Records the CPU time of the thread since its start, in nanoseconds.
  void note_used(std::uint64_t used);
  /// A stop of this thread that another one's wait returned.
  void handle(const tracee::Stop& stop);
  /// While it waits it blocks these signals, instead of its usual; nullopt: its usual.
  void set_mask(std::optional<std::uint64_t> mask) { mask_ = mask; }
  [[nodiscard]] std::optional<std::uint64_t> mask() const { return mask_; }
  /// The thread has lent its memory to a vfork child that has neither executed a program nor
  /// exited.
  [[nodiscard]] bool lends() const { return lends_; }
  void on_memory_back();
  [[nodiscard]] Woken wait_for_child();
  [[nodiscard]] bool waits_for_child() const { return for_child_; }

 private:
  class Alarm;

  [[nodiscard]] Woken park(const char* purpose, std::optional<Instant> deadline);
  void on_call();
  void on_interrupted();
  [[nodiscard]] bool wait_to_open();
  [[nodiscard]] bool wait_for_kernel();
  [[nodiscard]] bool advance();
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
  unsigned vain_looks_ = 0;    ///< since it found something, or waited
  unsigned unpaid_calls_ = 0;  ///< that the kernel has made, and no time has passed for
  std::optional<std::uint64_t> mask_;
  struct CallLimit {
    Instant deadline;
    int error;
  };
  std::optional<CallRetries> retries_{};  ///< of a call that blocks in the kernel
  std::optional<CallLimit> call_limit_{};
  bool repeats_ = false;          ///< that call is made again
  Descriptor other_end_{};        ///< of a pipe that it opens, until it has done so
  bool opens_in_kernel_ = false;  ///< where its wait is not visible
  // While it waits.
  bool waits_ = false;
  bool parking_ = false;  ///< it gives its turn away, and does not wait yet
  bool ready_ = false;    ///< meanwhile something has become so
  std::optional<NamedPipe> opened_{};
  Woken woken_{};
  FiberList sleeper_;
  std::vector<Watched> watched_;
};

}  // namespace anyrdma::sim::programs
