// How a process of a program dies of a signal: the signal and its reason, the registers, and the
// stacks of its threads. Read when the signal is about to be delivered, which changes nothing that
// the program or the run can see.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "verbs/time.h"

namespace anyrdma::sim::programs {

class Program;
class Sandbox;
class Thread;

struct Crash {
  const Program* program = nullptr;
  bool of_child = false;  ///< of a process that the program has made, whose end is its own affair
  std::string process;    ///< "server/rping", and "server/rping.2" for a child
  std::string thread;     ///< that got the signal: "server/rping/2"
  int signal = 0;
  std::string cause;                   ///< "SIGSEGV: address 0x0 is not mapped"
  std::string remark{};                ///< why the stack cannot be trusted, a sentence; else empty
  std::vector<std::string> frames;     ///< of that thread, the innermost one first
  std::vector<std::string> registers;  ///< of it, lines
  std::string others{};                ///< stacks of the other threads, lines
};

/// Whether the signal means that the program did what it must not do: SIGSEGV, SIGABRT ...
[[nodiscard]] bool is_crash(int signal);

/// Lines, indented: cause, and the first frames. For the report of a search.
[[nodiscard]] std::string brief_text(const Crash& crash);
/// Lines, indented: cause, frames, registers and the other threads.
[[nodiscard]] std::string full_text(const Crash& crash);

/// The stacks of a program's threads at the moment at which it has written a sanitizer's report:
/// first the one that wrote it, without the sanitizer's own frames. `all`: also the other threads.
/// Empty: its process has ended.
[[nodiscard]] std::string stacks_at_report(Sandbox& sandbox, const Program& program, bool all);

}  // namespace anyrdma::sim::programs
