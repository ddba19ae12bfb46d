// A thread of an unmodified program in the simulated world, as its system calls see it: it waits in
// virtual time, and gives its turn to other threads. The supervisor runs it (TracedThread).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/programs/process/idleness.h"
#include "sim/programs/process/watched.h"
#include "sim/schedule/fiber.h"
#include "sim/schedule/scheduler.h"
#include "sim/tracee/tracee.h"
#include "transport/realtime/descriptor.h"

namespace anyrdma::sim::programs {

using tracee::Call;
using transport::realtime::Descriptor;

struct Process;
class Supervisor;

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

/// In the simulator a thread is a fiber, and ends with it.
class Thread {
 public:
  Thread(Supervisor& supervisor, Process& process, std::string name, pid_t tid);
  virtual ~Thread() = default;
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  /// "server/rping", and "server/rping/2" for its second thread.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] tracee::Tracee& tracee() { return tracee_; }
  [[nodiscard]] pid_t tid() const { return tracee_.tid(); }
  /// As programs of the host know it.
  [[nodiscard]] pid_t number() const { return tracee::number_of(tid()); }
  [[nodiscard]] Process& process() const { return process_; }
  [[nodiscard]] Supervisor& supervisor() const { return supervisor_; }
  [[nodiscard]] Instant now() const;
  /// Whether the thread has ended, so that only this record of it is left.
  [[nodiscard]] bool is_over() const { return over_; }

  // --- waits ------------------------------------------------------------------------------------

  /// Suspends the thread in virtual time until wake() is called, or until `deadline`. `purpose`
  /// (what it waits for, for reports) must be a static string.
  [[nodiscard]] Woken wait(const char* purpose, std::optional<Instant> deadline = std::nullopt);
  /// Suspends the thread until one of the descriptors is ready, or until `deadline`. If `watched`
  /// is empty, only the deadline or a signal ends the wait.
  [[nodiscard]] Woken wait_for(std::vector<Watched> watched, const char* purpose,
                               std::optional<Instant> deadline = std::nullopt);
  [[nodiscard]] Woken wait_for_child();
  [[nodiscard]] bool waits_for_child() const { return for_child_; }
  /// Wakes the waiting thread; it continues when its turn comes.
  void wake(Woken why);
  [[nodiscard]] bool waits() const { return waits_ && !sleeper_.empty(); }
  /// Whether a signal such as SIGSTOP has stopped the thread (kernel/job_control.h).
  [[nodiscard]] bool is_stopped() const { return stopped_; }
  /// Sets the signals that the thread blocks while it waits, as ppoll(2) does. nullopt: the
  /// thread's usual mask.
  void set_mask(std::optional<std::uint64_t> mask) { mask_ = mask; }
  [[nodiscard]] std::optional<std::uint64_t> mask() const { return mask_; }

  // --- turns and time ---------------------------------------------------------------------------

  /// Suspends the thread until something happens, as after a poll that found nothing.
  void yield();
  /// How often spin() returns: a poll takes at most one part in `share` of the virtual time since
  /// the first one.
  struct Pace {
    unsigned for_nothing;  ///< so many polls at first take no time: others only go first
    int share;
  };
  static constexpr Pace kInLoop{.for_nothing = 16, .share = 16};
  static constexpr Pace kOfYields{.for_nothing = 16, .share = 256};
  /// For empty polls of completion queues. One stop stands for several polls, and a program that
  /// receives by memory need not make any other call.
  static constexpr Pace kOfPolls{.for_nothing = 0, .share = 1024};
  /// Like yield(), for a program that polls memory which another thread may write. The supervisor
  /// does not see such writes, so the program polls again soon, then less and less often. A loop
  /// without system calls costs more real time per poll than one with sched_yield(2).
  void spin(const Pace& pace = kInLoop);
  /// How long the thread has only polled by spin().
  [[nodiscard]] Duration spun_for() const;
  /// Offers a scheduling point: other threads run first if the schedule chooses so. Returns false
  /// if this thread has ended meanwhile.
  [[nodiscard]] bool give_way();
  /// Takes time. False: it is over.
  bool spend(Duration duration);
  /// Counts a poll that found nothing. If a thread polls repeatedly, virtual time advances by more
  /// and more, since otherwise nothing could ever happen. Returns false if the thread has ended.
  [[nodiscard]] bool look_in_vain();
  [[nodiscard]] Idleness& idleness() { return idleness_; }

  // --- its system call --------------------------------------------------------------------------

  /// Lets the kernel execute the system call that the thread is about to make, and returns its
  /// result. nullopt: the call did not return, because another event (a signal, or the thread's
  /// end) came first and was handled.
  [[nodiscard]] std::optional<long> finish_call();
  /// Sets a time limit for the system call that the thread is about to make: if it still blocks at
  /// `deadline`, it returns `error`.
  void limit_call(Instant deadline, int error) { call_limit_ = {deadline, error}; }
  /// Returns a duplicate, in this process, of a descriptor of the program. Empty: the program has
  /// no such descriptor.
  [[nodiscard]] Descriptor borrow(int fd) const;
  /// Notes that the thread has called exit(2), which ends only this thread and not its process.
  void set_ends_alone() { ends_alone_ = true; }
  /// Handles a stop of the thread that a system call did not expect.
  virtual void handle(const tracee::Stop& stop) = 0;

 protected:
  /// The end of a call that waits no longer than a deadline, and its errno.
  struct CallLimit {
    Instant deadline;
    int error;
  };

  /// Returns the current call of the thread as lines, for reports of hangs.
  [[nodiscard]] virtual std::string describe() const = 0;
  /// Whether the thread waits for descriptors, or is about to wait for them. While it does, call
  /// on_ready() when one becomes ready.
  [[nodiscard]] bool looks_out() const { return parking_ || waits(); }
  [[nodiscard]] const std::vector<Watched>& watched() const { return watched_; }
  void on_ready();
  /// Marks the thread as ended, even if the kernel still reports events of it.
  void leave();
  void set_over() { over_ = true; }
  void set_stopped(bool stopped) { stopped_ = stopped; }
  /// Of its last wait.
  [[nodiscard]] std::optional<Instant> last_deadline() const { return last_deadline_; }
  [[nodiscard]] bool ends_alone() const { return ends_alone_; }
  [[nodiscard]] std::optional<CallLimit> call_limit() const { return call_limit_; }
  void end_call_limit() { call_limit_.reset(); }
  void end_spins() { spins_ = 0; }

 private:
  class Alarm;

  [[nodiscard]] Woken park(const char* purpose, std::optional<Instant> deadline);

  Supervisor& supervisor_;
  Process& process_;
  std::string name_;
  tracee::Tracee tracee_;
  Idleness idleness_;
  bool over_ = false;
  bool ends_alone_ = false;
  bool for_child_ = false;  ///< it waits for the end of one
  bool stopped_ = false;
  std::optional<Instant> last_deadline_{};
  unsigned spins_ = 0;  ///< since it did anything else
  Instant spins_since_{};
  std::optional<std::uint64_t> mask_;
  std::optional<CallLimit> call_limit_{};

  // While it waits.
  bool waits_ = false;
  bool parking_ = false;  ///< whether it gives up the processor before it waits
  bool ready_ = false;    ///< meanwhile something has become so
  Woken woken_{};
  FiberList sleeper_;
  std::vector<Watched> watched_;
};

}  // namespace anyrdma::sim::programs
