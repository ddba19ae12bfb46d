// The interface between the protocol code, which does no I/O, and the place where it runs: time, a
// critical section and waiting. The simulator implements it with virtual time and fibers, without a
// lock. Real-time transports implement it with a monotonic clock, a mutex and eventfds.
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
  /// Returns a descriptor that is readable exactly while a unit is available; -1 without
  /// descriptors (simulator).
  virtual int fd() const = 0;
  /// Says in a few words what its units are ("an event"), for the report of a simulator that is
  /// stuck. `purpose` outlives the semaphore.
  virtual void set_purpose(const char* /*purpose*/) {}
  /// Sets a function that returns more lines for the same report. It is called only while a thread
  /// waits and no thread can go on, in the thread that waits.
  virtual void set_details(const std::function<std::string()>& /*details*/) {}
};

/// A function object that runs once, later, unless it is destroyed before.
class Job {
 public:
  virtual ~Job() = default;
  virtual void run() = 0;
};

/// The environment of one process (real time) or of one simulated host. Outlives every object made
/// with it.
class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual Instant now() = 0;
  /// Returns the time from 1970-01-01 to `instant`. Virtual time begins at 1970-01-01.
  [[nodiscard]] virtual Duration wall_clock(Instant instant) { return instant.time_since_epoch(); }
  [[nodiscard]] virtual Result<std::unique_ptr<Semaphore>> make_semaphore() = 0;
  /// Enters the critical section that protects cm, transport and HCA objects of this runtime.
  /// Not recursive. Use CriticalSection. In a simulated world this is a scheduling point: another
  /// thread or fiber may run, and packets may land, before the caller is inside.
  virtual void enter() = 0;
  /// Carries out what the protocol code has requested (packets to send, timers to set, events to
  /// deliver), then leaves the critical section.
  virtual void leave() = 0;
  /// Tells the driver that leave() has work to do. The protocol code must call it, inside the
  /// critical section, whenever it queues work for the driver: leave() may do nothing otherwise.
  void call_driver() { called_for_ = Work::kAny; }
  /// Like the function above, called by queue pairs: only packets wait to be sent.
  void call_for_packets() {
    if (called_for_ == Work::kNone) called_for_ = Work::kPackets;
  }
  /// A flag that becomes true when a deadline of the protocol code may have changed. The driver
  /// resets it.
  [[nodiscard]] bool& deadlines_moved() { return deadlines_moved_; }
  /// Called inside the critical section when a poll found nothing. May process packets that have
  /// arrived, so that an application that polls needs no other thread. Other threads may enter the
  /// section meanwhile. Optional.
  virtual void progress() {}
  /// Called outside the critical section by a thread that spins until another thread has left a
  /// bracket (ibv_start_poll, for example). Lets other threads run. Optional.
  virtual void spin() {}
  /// Called inside the critical section when an application has asked for a notification and so
  /// will stop polling. The driver must not rely on its polling any more. Optional.
  virtual void about_to_wait() {}
  /// The calling thread and the time, for the report of a simulated hang. In real time it is empty.
  struct Mark {
    Instant when{};
    std::uint64_t who = 0;
  };
  [[nodiscard]] virtual Mark mark() { return {}; }
  /// Returns an identifier of the process that makes the call, if several simulated processes share
  /// one runtime. Objects that the process gets from the transport are destroyed when it ends.
  /// Null: no particular process.
  [[nodiscard]] virtual const void* process() { return nullptr; }
  /// Returns the thread and time as text: "at 1.500000000 s by client/main".
  [[nodiscard]] virtual std::string describe(const Mark& /*mark*/) { return {}; }
  /// Why a call waits that only an acknowledgement by the program can end.
  struct Owed {
    std::string events;  ///< in lines, as for Semaphore::set_details
    bool own = false;    ///< the calling thread itself has taken all of them
  };
  /// Tells a checker that the calling thread begins to wait for acknowledgements. on_paid() follows
  /// when the wait ends. Call both outside the critical section.
  virtual void on_owed(const Owed& /*owed*/) {}
  virtual void on_paid() {}
  /// Runs `job` soon, outside the critical section: the handler of an asynchronous call whose
  /// executor is not given. False, and `job` is unchanged, if the runtime has no thread for
  /// application code (real time). Call it inside or outside the critical section.
  [[nodiscard]] virtual bool run_later(std::unique_ptr<Job>& /*job*/) { return false; }

 protected:
  [[nodiscard]] bool driver_called() const { return called_for_ != Work::kNone; }
  [[nodiscard]] bool called_for_packets_only() const { return called_for_ == Work::kPackets; }
  /// The driver has done all the work that was requested by call_driver().
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
