#include "sim/tracee/debug_registers.h"

#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <vector>

#include "sim/tracee/tracee.h"

namespace anyrdma::sim::tracee {
namespace {

volatile std::uint64_t value = 0;

/// What the value is at each stop of a child that sets it to 1 and to 2, when it is watched.
std::vector<std::uint64_t> seen_in_watched_child() {
  const pid_t child = ::fork();
  if (child == 0) {
    (void)::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    value = 1;
    value = 2;
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  constexpr std::uint64_t kEightBytesWritten = 1 | 0x9ul << 16;
  const Tracee tracee(child);
  (void)tracee.set_debug_register(0, reinterpret_cast<std::uint64_t>(&value));
  (void)tracee.set_debug_register(7, kEightBytesWritten);
  std::vector<std::uint64_t> seen;
  for (;;) {
    tracee.run();
    EXPECT_EQ(::waitpid(child, &status, 0), child);
    if (!WIFSTOPPED(status)) return seen;
    seen.push_back(tracee.peek<std::uint64_t>(reinterpret_cast<std::uint64_t>(&value)).value_or(9));
  }
}

TEST(DebugRegistersTest, SaysWhetherWatchedWritesStopAThread) {
  const std::vector<std::uint64_t> all{1, 2};
  EXPECT_EQ(seen_in_watched_child(), debug_registers_work() ? all : std::vector<std::uint64_t>{});
}

TEST(DebugRegistersTest, LeavesNoChildBehind) {
  (void)debug_registers_work();
  EXPECT_EQ(::waitpid(-1, nullptr, WNOHANG), -1);
  EXPECT_EQ(errno, ECHILD);
}

}  // namespace
}  // namespace anyrdma::sim::tracee
