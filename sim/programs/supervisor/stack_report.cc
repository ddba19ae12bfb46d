#include "sim/programs/supervisor/stack_report.h"

#include <cstddef>

#include "sim/programs/process/process.h"
#include "sim/programs/supervisor/sandbox.h"
#include "sim/stacks/unwinder.h"

namespace anyrdma::sim::programs {
namespace {

std::string stack_of(const stacks::Unwinder& unwinder, pid_t tid) {
  std::string text;
  for (const std::string& frame : unwinder.frames(tid)) text += "    " + frame + "\n";
  return text.empty() ? "    (its stack cannot be read)\n" : text;
}

}  // namespace

std::string stack_report(const Sandbox& sandbox) {
  std::string text;
  for (const auto& process : sandbox.processes()) {
    if (process->status) continue;
    const stacks::Unwinder unwinder(process->pid);
    for (const auto& thread : process->threads) {
      if (!thread->is_over())
        text += "  " + thread->name() + "\n" + stack_of(unwinder, thread->tid());
    }
  }
  return text;
}

}  // namespace anyrdma::sim::programs
