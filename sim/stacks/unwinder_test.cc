#include "sim/stacks/unwinder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

namespace anyrdma::sim::stacks {

// With names of their own, and nothing that a compiler could leave out.
[[gnu::noinline]] int wait_within(int depth) {
  ::raise(SIGSTOP);
  return depth + 1;
}
[[gnu::noinline]] int call_down(int depth) {
  return depth == 0 ? wait_within(depth) + 1 : call_down(depth - 1) + 1;
}

namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// A process that has stopped within wait_within().
class Stopped {
 public:
  explicit Stopped(int depth) : pid_(::fork()) {
    if (pid_ == 0) {
      (void)::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
      ::_exit(call_down(depth));
    }
    int status = 0;
    EXPECT_EQ(::waitpid(pid_, &status, 0), pid_);
    EXPECT_TRUE(WIFSTOPPED(status));
  }
  ~Stopped() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Stopped(const Stopped&) = delete;
  Stopped& operator=(const Stopped&) = delete;
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

// Lines: tests/simulated/stacks_test.
TEST(Unwinder, NamesFunctionsAndFiles) {
  const Stopped process(2);
  const auto frames = Unwinder(process.pid()).frames(process.pid());

  const auto ours = AllOf(HasSubstr("+0x"), HasSubstr("(unwinder_test)"));
  EXPECT_THAT(frames, Contains(AllOf(HasSubstr("raise"), HasSubstr("(libc.so.6)"))));
  EXPECT_THAT(frames, Contains(AllOf(HasSubstr("stacks::wait_within+0x"), ours)));
  EXPECT_THAT(frames, Contains(AllOf(HasSubstr("stacks::call_down+0x"), ours)).Times(3));
  EXPECT_THAT(frames, Contains(HasSubstr("main+0x")));
}

TEST(Unwinder, StopsWhereItIsTold) {
  const Stopped process(100);

  EXPECT_THAT(Unwinder(process.pid()).frames(process.pid(), 7), SizeIs(7));
}

TEST(Unwinder, SaysNothingOfAProcessThatIsGone) {
  pid_t pid = 0;
  {
    const Stopped process(0);
    pid = process.pid();
  }

  EXPECT_THAT(Unwinder(pid).frames(pid), IsEmpty());
}

}  // namespace
}  // namespace anyrdma::sim::stacks
