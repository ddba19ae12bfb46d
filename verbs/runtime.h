// What a sans-I/O core asks of the place it runs in: the time, a critical section and a way to
// wait. sim implements it with virtual time, no lock and fibers; fabric with a monotonic clock, one
// mutex per process and eventfds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "verbs/result.h"
#include "verbs/time.h"

namespace anyrdma::verbs {

/// A counting semaphore whose way of blocking belongs to the Runtime: it parks a fiber in the
/// simulator and blocks in read(2) on an eventfd in real time. Backs every pollable C object
/// (rdma_event_channel.fd, ibv_comp_channel.fd, ibv_context.async_fd).
/// Threads: all functions may be called from any thread, inside or outside the critical section,
/// except wait(), which must be called outside of it.
class Semaphore {
 public:
  virtual ~Semaphore() = default;
  /// Adds one unit and wakes one waiter.
  virtual void post() = 0;
  /// Takes one unit without waiting. False: there is none.
  virtual bool try_wait() = 0;
  /// Takes one unit, waiting for it. EAGAIN: descriptor set non-blocking by the user and empty;
  /// EINTR: a signal; EDEADLK: the simulator knows that no thread will ever post.
  [[nodiscard]] virtual Result<void> wait() = 0;
  /// Readable exactly while a unit is available; -1 where there are no descriptors (simulator).
  virtual int fd() const = 0;
  /// Says in a few words what its units are ("an event"), for the report of a simulator that is
  /// stuck. `purpose` outlives the semaphore.
  virtual void set_purpose(const char* /*purpose*/) {}
  /// Sets a function that returns more lines for the same report. It is called only while a thread
  /// waits and no thread can go on, in the thread that waits.
  virtual void set_details(const std::function<std::string()>& /*details*/) {}
};

/// A piece of work that is done once, later, unless it is destroyed before.
class Job {
 public:
  virtual ~Job() = default;
  virtual void run() = 0;
};

/// One per process (fabric) or per simulated host (sim). Outlives every object made with it.
class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual Instant now() = 0;
  /// How long after the beginning of 1970 an instant is. Where time is virtual, it begins there.
  [[nodiscard]] virtual Duration wall_clock(Instant instant) { return instant.time_since_epoch(); }
  [[nodiscard]] virtual Result<std::unique_ptr<Semaphore>> make_semaphore() = 0;
  /// Enters the critical section that protects cm, transport and HCA objects of this runtime.
  /// Not recursive. Use CriticalSection. In a simulated world this is a scheduling point: another
  /// thread or fiber may run, and packets may land, before the caller is inside.
  virtual void enter() = 0;
  /// Carries out what the cores want done (packets to send, timers to arm, events to deliver), then
  /// leaves the critical section.
  virtual void leave() = 0;
  /// For the cores, inside the critical section: something waits that leave() has to carry out.
  /// Code that queues something for the driver must call it, because leave() may look only then.
  void call_driver() { called_for_ = Work::kAny; }
  /// Like the function above, called by queue pairs: only packets wait to be sent.
  void call_for_packets() {
    if (called_for_ == Work::kNone) called_for_ = Work::kPackets;
  }
  /// Becomes true when a deadline of the cores may have moved; the driver sets it back.
  [[nodiscard]] bool& deadlines_moved() { return deadlines_moved_; }
  /// Called inside the critical section when a poll found nothing: may take in packets that
  /// have arrived, so that a polling application makes progress by itself. Others may have had the
  /// section in between. Optional.
  virtual void progress() {}
  /// Called outside of the critical section by a caller that spins until another thread has left
  /// something: others go on first, where they would not by themselves. Optional.
  virtual void spin() {}
  /// Called inside the critical section when an application has asked for a notification: it will
  /// wait, so whatever relied on its polling must not any more. Optional.
  virtual void about_to_wait() {}
  /// The calling thread and the time, for the report of a simulated hang. In real time it is empty.
  struct Mark {
    Instant when{};
    std::uint64_t who = 0;
  };
  [[nodiscard]] virtual Mark mark() { return {}; }
  /// Where several processes share one runtime (simulator): the process of the call. Objects that
  /// it gets from the transport belong to it, and end with it. Null: no particular process.
  [[nodiscard]] virtual const void* process() { return nullptr; }
  /// In words: "at 1.500000000 s by client/main".
  [[nodiscard]] virtual std::string describe(const Mark& /*mark*/) { return {}; }
  /// The reason of a call's wait that only an acknowledgement of the program ends.
  struct Owed {
    std::string events;  ///< in lines, as for Semaphore::set_details
    bool own = false;    ///< the calling thread itself has taken all of them
  };
  /// The calling thread begins to wait for acknowledgements; on_paid() follows when it has them, or
  /// gives up. For checkers: optional. Outside the critical section.
  virtual void on_owed(const Owed& /*owed*/) {}
  virtual void on_paid() {}
  /// Runs `job` soon, outside the critical section: the handler of an asynchronous call without an
  /// executor. False, and the job is left alone, if the runtime has no thread for application code
  /// (real time). Inside or outside the critical section.
  [[nodiscard]] virtual bool run_later(std::unique_ptr<Job>& /*job*/) { return false; }

 protected:
  [[nodiscard]] bool driver_called() const { return called_for_ != Work::kNone; }
  [[nodiscard]] bool called_for_packets_only() const { return called_for_ == Work::kPackets; }
  /// All that was called for is done.
  void answer_call() { called_for_ = Work::kNone; }

 private:
  enum class Work : std::uint8_t { kNone, kPackets, kAny };
  Work called_for_ = Work::kNone;
  bool deadlines_moved_ = false;
};

/// Scope guard of Runtime::enter and leave.
class CriticalSection {
 public:
  explicit CriticalSection(Runtime& runtime) : runtime_(runtime) { runtime_.enter(); }
  ~CriticalSection() { runtime_.leave(); }
  CriticalSection(const CriticalSection&) = delete;
  CriticalSection& operator=(const CriticalSection&) = delete;

 private:
  Runtime& runtime_;
};

}  // namespace anyrdma::verbs
