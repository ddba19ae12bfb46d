#include "sim/programs/process/process.h"

namespace anyrdma::sim::programs {

Thread* find_thread(const Process& process, pid_t number) {
  for (const auto& thread : process.threads) {
    if (!thread->is_over() && thread->number() == number) return thread.get();
  }
  return nullptr;
}

}  // namespace anyrdma::sim::programs
