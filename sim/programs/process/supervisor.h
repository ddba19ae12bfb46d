// The interface by which system calls of programs use the supervisor, which runs the threads.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/programs/process/process.h"
#include "sim/programs/process/thread.h"
#include "sim/schedule/random_stream.h"
#include "sim/tracee/tracee.h"

namespace anyrdma::sim {
class Host;
class World;
}  // namespace anyrdma::sim

namespace anyrdma::sim::programs {

class GuardPoints;
struct Kernel;
class Sockets;
class SocketState;

/// Implemented by Sandbox. All functions are for the thread that runs the world.
class Supervisor {
 public:
  virtual ~Supervisor() = default;

  [[nodiscard]] virtual World& world() = 0;
  /// The source of the random numbers that programs read.
  [[nodiscard]] virtual RandomStream& random() = 0;
  /// The virtual time that an emulated system call takes.
  [[nodiscard]] virtual Duration call_cost() const = 0;
  /// The date at the beginning of the world.
  [[nodiscard]] virtual Duration wall_clock() const = 0;
  [[nodiscard]] virtual Kernel& kernel() = 0;
  [[nodiscard]] virtual Sockets& sockets() = 0;
  [[nodiscard]] virtual SocketState& socket_state() = 0;
  [[nodiscard]] virtual GuardPoints& guard_points() = 0;
  /// All processes, also those that have ended, in the order in which they were made.
  [[nodiscard]] virtual const std::vector<std::unique_ptr<Process>>& processes() const = 0;

  // --- turns ------------------------------------------------------------------------------------

  /// Runs the thread until it stops next, and stores stops of other threads meanwhile.
  [[nodiscard]] virtual tracee::Stop run(Thread& thread, int signal) = 0;
  /// Lets the thread run to the end of the call that it is about to make.
  [[nodiscard]] virtual tracee::Stop run_to_return(Thread& thread) = 0;
  /// A thread gives its turn back.
  virtual void end_turn() = 0;
  /// Takes the entries that the running thread has written to shared memory, and advances virtual
  /// time by its clock readings. Call it before using the state of the world.
  virtual void close_pages() = 0;
  /// Adds a thread to those that wait for descriptors, or removes it.
  virtual void watch(Thread& thread) = 0;
  virtual void unwatch(Thread& thread) = 0;
  /// Wakes the threads that wait for a descriptor which is ready now. Asks the kernel.
  virtual void look() = 0;
  /// Call before a system call for which the kernel may send a signal to another thread.
  virtual void expect_signals() = 0;
  /// Wakes each waiting thread that has a pending signal which it does not block. Call when a
  /// thread may have got a signal.
  virtual void interrupt_waits() = 0;
  /// Waits until the kernel has ended processes that were killed or are ending, and handles the
  /// ends in the order of `processes`. Their threads are woken in the order in which they were
  /// made.
  virtual void await_ends(std::span<Process* const> processes) = 0;

  // --- reports ----------------------------------------------------------------------------------

  /// A program does something other than waiting: a write, a send, a start or an end.
  virtual void note_deed() = 0;
  /// A thread sleeps with a timeout from now on, or does so no longer: see Sleeper.
  virtual void begin_sleep() = 0;
  virtual void end_sleep() = 0;
  /// Makes a remark for the user, once.
  virtual void remark(const std::string& text) = 0;
  /// Call when a program of the host is about to create a System V or POSIX object.
  virtual void note_objects(const Host& host) = 0;
  /// Prevents later runs from using this run's namespaces. Call when a program has changed them in
  /// a way that a later run could notice.
  virtual void spoil_realms() = 0;
};

/// Exists while a thread sleeps with a timeout.
class Sleeper {
 public:
  explicit Sleeper(Supervisor& supervisor) : supervisor_(supervisor) { supervisor_.begin_sleep(); }
  ~Sleeper() { supervisor_.end_sleep(); }
  Sleeper(const Sleeper&) = delete;
  Sleeper& operator=(const Sleeper&) = delete;

 private:
  Supervisor& supervisor_;
};

}  // namespace anyrdma::sim::programs
