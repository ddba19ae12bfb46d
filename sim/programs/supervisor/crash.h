// The report of a process that a signal ends: the signal and its reason, the registers, and the
// stacks of all threads. The report is made when the signal is about to be delivered, without any
// effect that the program or the run could see.
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
  bool of_child = false;  ///< whether the process is a child of the program
  std::string process;    ///< "server/rping", and "server/rping.2" for a child
  std::string thread;     ///< that got the signal: "server/rping/2"
  int signal = 0;
  std::string cause;     ///< "SIGSEGV: address 0x0 is not mapped"
  std::string remark{};  ///< a sentence that says why the stack cannot be trusted; else empty
  std::vector<std::string> frames;     ///< of that thread, the innermost one first
  std::vector<std::string> registers;  ///< of it, lines
  std::string others{};                ///< stacks of the other threads, lines
};

/// Whether a signal shows an error of the program: SIGSEGV, SIGABRT and so on.
[[nodiscard]] bool is_crash(int signal);

/// Returns indented lines with the cause and the first stack frames, for the report of a search.
[[nodiscard]] std::string brief_text(const Crash& crash);
/// Returns indented lines with the cause, the stack frames, the registers and the stacks of the
/// other threads.
[[nodiscard]] std::string full_text(const Crash& crash);

/// Returns the stacks of a program's threads when the program has just written the report of a
/// sanitizer: first the thread that wrote it, without the sanitizer's own frames; with `all`, then
/// the other threads. Empty: the process has ended.
[[nodiscard]] std::string stacks_at_report(Sandbox& sandbox, const Program& program, bool all);

}  // namespace anyrdma::sim::programs
