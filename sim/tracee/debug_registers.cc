#include "sim/tracee/debug_registers.h"

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

#include "sim/tracee/tracee.h"

namespace anyrdma::sim::tracee {
namespace {

volatile int watched = 0;

[[noreturn]] void write_when_traced() {
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0) {
    ::raise(SIGSTOP);
    watched = 1;
  }
  ::_exit(0);
}

/// Whether the child has stopped by that signal.
bool stops_by(pid_t child, int signal) {
  int status = 0;
  pid_t waited = 0;
  do {
    waited = ::waitpid(child, &status, __WALL);
  } while (waited < 0 && errno == EINTR);
  return waited == child && WIFSTOPPED(status) && WSTOPSIG(status) == signal;
}

bool write_stops() {
  constexpr unsigned kControl = 7;
  constexpr std::uint64_t kFourBytesWritten = 1 | 0xdul << 16;
  const pid_t child = ::fork();
  if (child == 0) write_when_traced();
  if (child < 0 || !stops_by(child, SIGSTOP)) return false;
  const Tracee tracee(child);
  const auto address = reinterpret_cast<std::uint64_t>(&watched);
  bool works = tracee.set_debug_register(0, address) &&
               tracee.set_debug_register(kControl, kFourBytesWritten);
  tracee.run();
  const bool stopped = stops_by(child, SIGTRAP);
  works = works && stopped;
  if (!stopped) return false;  // it has ended
  ::kill(child, SIGKILL);
  (void)stops_by(child, 0);
  return works;
}

}  // namespace

bool debug_registers_work() {
  static const bool works = write_stops();
  return works;
}

}  // namespace anyrdma::sim::tracee
