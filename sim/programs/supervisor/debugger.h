// The supervisor's hook for a debugger of the programs. No virtual time passes in these calls.
#pragma once

#include <string_view>

#include "sim/tracee/tracee.h"

namespace anyrdma::sim::programs {

class Sandbox;
class Thread;

/// Outlives the sandbox. It must not change anything that the programs or the world see, unless its
/// user does.
class Debugger {
 public:
  virtual ~Debugger() = default;
  /// A sandbox begins; it has no programs yet.
  virtual void begin(Sandbox& sandbox) = 0;
  /// Lets the thread run to its next stop that is the supervisor's, in place of Tracee::run() and
  /// Sandbox::await().
  [[nodiscard]] virtual tracee::Stop run(Thread& thread, int signal) = 0;
  /// Like the function above, by one instruction.
  [[nodiscard]] virtual tracee::Stop step(Thread& thread) = 0;
  /// A signal is about to be delivered. Returns the one that is, or 0.
  [[nodiscard]] virtual int on_signal(Thread& thread, int signal) = 0;
  /// The thread's process has begun another program.
  virtual void on_program(Thread& thread) = 0;
  /// While a program runs or nothing does: whether the debugger wants the programs to stop.
  [[nodiscard]] virtual bool wants_stop() = 0;
  /// Outside of all threads: the programs stop here if the debugger wants that.
  virtual void look() = 0;
  /// The run fails. Outside of all threads: nothing more will happen. In a thread: its program ends
  /// by itself with a wrong status when it goes on. `why`: lines.
  virtual void on_failure(std::string_view why) = 0;
  /// Whether the run is to end now, whatever else is left of it.
  [[nodiscard]] virtual bool ends_run() const = 0;
};

}  // namespace anyrdma::sim::programs
