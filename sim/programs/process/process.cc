#include "sim/programs/process/process.h"

#include "sim/host.h"
#include "sim/programs/process/program.h"
#include "sim/programs/process/supervisor.h"

namespace anyrdma::sim::programs {

Thread* find_thread(const Process& process, pid_t number) {
  for (const auto& thread : process.threads) {
    if (!thread->is_over() && thread->number() == number) return thread.get();
  }
  return nullptr;
}

Process* find_process(const Thread& thread, pid_t number) {
  for (const auto& process : thread.supervisor().processes()) {
    const bool there = process->host == thread.process().host && process->number == number;
    if (there && !process->status) return process.get();
  }
  return nullptr;
}

std::string program_of(const Process& process) {
  return process.program != nullptr ? process.program->name()
                                    : process.host->name() + "/" + process.name;
}

}  // namespace anyrdma::sim::programs
