// The interface between the protocol code, which does no I/O, and its environment: time, a critical
// section and waiting. The simulator implements it with virtual time and fibers, without a lock.
// Real-time transports implement it with a monotonic clock, a mutex and eventfds.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "verbs/result.h"
#include "verbs/time.h"

namespace anyrdma::verbs {

/// A counting semaphore. wait() blocks as the Runtime does: it suspends a fiber in the simulator,
/// and blocks in read(2) on an eventfd in real time. Each C object that can be polled has a
/// semaphore (rdma_event_channel.fd, ibv_comp_channel.fd, ibv_context.async_fd). All functions may
/// be called from any thread, inside or outside of the critical section (Runtime::enter), except
/// wait(), which must be called outside.
class Semaphore {
 public:
  virtual ~Semaphore() = default;
  /// Adds one unit and wakes one waiter.
  virtual void post() = 0;
  /// Takes one unit without waiting. False: there is none.
  virtual bool try_wait() = 0;
  /// Takes one unit, and waits for it if there is none. EAGAIN: there is no unit, and the user has
  /// set the descriptor non-blocking; EINTR: a signal; EDEADLK: the simulator knows that no thread
  /// will ever post.
  [[nodiscard]] virtual Result<void> wait() = 0;
  /// Returns a descriptor that is readable exactly while a unit is available; -1 in the simulator,
  /// which has no descriptors.
  virtual int fd() const = 0;
  /// Sets the name of the units, such as "an event". The simulator prints it in its report of a
  /// hang. `purpose` must outlive the semaphore.
  virtual void set_purpose(const char* /*purpose*/) {}
  /// Sets a function that returns more lines for the simulator's report of a hang. The function is
  /// called in the thread that waits, and only if no thread can continue.
  virtual void set_details(const std::function<std::string()>& /*details*/) {}
};

/// A function object that runs later, once at most. If it is destroyed before, it does not run.
class Job {
 public:
  virtual ~Job() = default;
  virtual void run() = 0;
};

/// The environment of the protocol code in one process (real time) or on one simulated host.
/// Outlives every object made with it.
class Runtime {
 public:
  virtual ~Runtime() = default;
  virtual Instant now() = 0;
  /// Returns the wall-clock time at `instant`, as the time since 1970-01-01. Virtual time begins at
  /// 1970-01-01.
  [[nodiscard]] virtual Duration wall_clock(Instant instant) { return instant.time_since_epoch(); }
  [[nodiscard]] virtual Result<std::unique_ptr<Semaphore>> make_semaphore() = 0;
  /// Enters the critical section that protects the cm, transport and HCA objects of this runtime.
  /// Not recursive. Use the class CriticalSection instead of direct calls. In a simulated world the
  /// call is a scheduling point: before the caller is inside, another thread or fiber may run, and
  /// packets may arrive.
  virtual void enter() = 0;
  /// Carries out what the protocol code has requested (packets to send, timers to set, events to
  /// deliver), then leaves the critical section.
  virtual void leave() = 0;
  /// Records that leave() has work to do. The protocol code must call this function, inside the
  /// critical section, whenever it queues work for the driver (the code that sends packets and sets
  /// timers). Otherwise leave() may do nothing.
  void call_driver() { called_for_ = Work::kAny; }
  /// Records that leave() has packets to send, and no other work. Called by queue pairs inside the
  /// critical section.
  void call_for_packets() {
    if (called_for_ == Work::kNone) called_for_ = Work::kPackets;
  }
  /// Returns a flag that becomes true when a deadline of the protocol code may have changed. The
  /// driver, which sets the timer for the next deadline, resets it.
  [[nodiscard]] bool& deadlines_moved() { return deadlines_moved_; }
  /// Called inside the critical section when a poll found nothing. May process packets that have
  /// arrived, so that an application that polls needs no other thread. During the call, other
  /// threads may enter the critical section. Implementing this function is optional.
  virtual void progress() {}
  /// Lets other threads run. Called outside of the critical section by a thread that spins until
  /// another thread has left a bracket (the calls from ibv_start_poll to ibv_end_poll, for
  /// example). Implementing this function is optional.
  virtual void spin() {}
  /// Called inside the critical section when an application has requested a notification, and
  /// therefore will stop polling. After the call, the driver must not rely on polls that process
  /// packets. Implementing this function is optional.
  virtual void about_to_wait() {}
  /// A thread and a time, for the report of a simulated hang. In real time it is empty.
  struct Mark {
    Instant when{};
    std::uint64_t who = 0;
  };
  [[nodiscard]] virtual Mark mark() { return {}; }
  /// Returns an identifier of the simulated process that makes the call, for a runtime that several
  /// processes share. When the process ends, the objects that it got from the transport are
  /// destroyed. Null: no particular process.
  [[nodiscard]] virtual const void* process() { return nullptr; }
  /// Returns the thread and time of a Mark as text: "at 1.500000000 s by client/main".
  [[nodiscard]] virtual std::string describe(const Mark& /*mark*/) { return {}; }
  /// The reason why a call waits until the program acknowledges events.
  struct Owed {
    std::string events;  ///< descriptions of these events, in lines, as for Semaphore::set_details
    bool own = false;    ///< whether the calling thread itself has taken all of these events
  };
  /// Tells a checker that the calling thread begins to wait until the program acknowledges events.
  /// on_paid() follows when the wait ends. Both are called outside of the critical section.
  virtual void on_owed(const Owed& /*owed*/) {}
  virtual void on_paid() {}
  /// Runs `job` soon, outside of the critical section: the handler of an asynchronous call for
  /// which no executor is given. Returns false, with `job` unchanged, if the runtime has no thread
  /// for application code (real time). May be called inside and outside of the critical section.
  [[nodiscard]] virtual bool run_later(std::unique_ptr<Job>& /*job*/) { return false; }

 protected:
  [[nodiscard]] bool driver_called() const { return called_for_ != Work::kNone; }
  [[nodiscard]] bool called_for_packets_only() const { return called_for_ == Work::kPackets; }
  /// Called by the driver when it has done all the work that call_driver() requested.
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
