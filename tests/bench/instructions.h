// Counts instructions exactly, on any x86-64 machine that lets a process trace its child: hardware
// counters are rare in virtual machines.
#pragma once

#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <optional>

namespace anyrdma::bench {

/// Single-steps `work` in a child, so it should be short. nullopt: not here.
template <class Work>
[[nodiscard]] std::optional<std::uint64_t> instructions_of(Work&& work) {
#ifdef __x86_64__
  const pid_t child = ::fork();
  if (child == 0) {
    if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(1);
    asm volatile("int3" ::: "memory");
    work();
    asm volatile("int3" ::: "memory");
    ::_exit(0);
  }
  int status = 0;
  std::optional<std::uint64_t> count;
  if (child < 0 || ::waitpid(child, &status, 0) != child) return count;
  for (std::uint64_t steps = 0; WIFSTOPPED(status) && !count; ++steps) {
    siginfo_t why{};
    // A breakpoint comes from the kernel, a step does not.
    const bool asked = ::ptrace(PTRACE_GETSIGINFO, child, nullptr, &why) == 0;
    if (steps > 0 && asked && why.si_code == SI_KERNEL) count = steps - 1;
    if (::ptrace(PTRACE_SINGLESTEP, child, nullptr, nullptr) != 0) break;
    if (::waitpid(child, &status, 0) != child) break;
  }
  if (WIFSTOPPED(status)) {
    ::kill(child, SIGKILL);
    (void)::waitpid(child, &status, 0);
  }
  return count;
#else
  (void)work;
  return std::nullopt;
#endif
}

}  // namespace anyrdma::bench
