// A program in a process of its own: how it ends, and who hears signals.
#include "tools/child.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

namespace anyrdma::tools {
namespace {

/// Runs `body` in a process of its own, which is what `anyrdma run` is, and gives its status.
template <class Body>
int status_of(Body body) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(body());
  int status = 0;
  EXPECT_EQ(::waitpid(pid, &status, 0), pid);
  return status;
}

Exit shell(const char* script) {
  ::execl("/bin/sh", "sh", "-c", script, nullptr);
  return Exit::kNotExecutable;
}

/// What becomes of a process that runs the script as `anyrdma run` would.
int like(const char* script) {
  return status_of([script] {
    const auto ending = run_child([script] { return shell(script); });
    return ending && !ending->not_started ? end_like(ending->status) : 99;
  });
}

TEST(Child, ItsExitStatusIsOurs) {
  EXPECT_EQ(WEXITSTATUS(like("exit 0")), 0);
  EXPECT_EQ(WEXITSTATUS(like("exit 7")), 7);
  EXPECT_EQ(WEXITSTATUS(like("exit 255")), 255);
}

class ChildEndedBy : public ::testing::TestWithParam<int> {};

TEST_P(ChildEndedBy, ASignalEndsUsLikewise) {
  const int status = like(("kill -" + std::to_string(GetParam()) + " $$").c_str());

  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), GetParam());
  EXPECT_FALSE(WCOREDUMP(status));
}

INSTANTIATE_TEST_SUITE_P(Each, ChildEndedBy,
                         ::testing::Values(SIGHUP, SIGINT, SIGQUIT, SIGABRT, SIGKILL, SIGSEGV,
                                           SIGTERM, SIGUSR1, SIGPIPE));

TEST(Child, ThatCannotBeStartedSaysWhy) {
  const auto ending = run_child([] { return Exit::kNotExecutable; });

  EXPECT_EQ(ending->not_started, Exit::kNotExecutable);
}

TEST(Child, GetsTheSignalsThatAreSentToUs) {
  std::array<int, 2> ready{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  const pid_t us = ::fork();
  if (us == 0) {
    ::dup2(ready[1], STDOUT_FILENO);
    const auto ending =
        run_child([] { return shell("trap 'exit 5' USR1; echo; while :; do wait; done"); });
    ::_exit(end_like(ending->status));
  }
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);  // it has set its trap

  ::kill(us, SIGUSR1);

  int status = 0;
  ASSERT_EQ(::waitpid(us, &status, 0), us);
  EXPECT_EQ(WEXITSTATUS(status), 5);
}

TEST(Child, DiesWithUs) {
  std::array<int, 2> alive{};
  ASSERT_EQ(::pipe(alive.data()), 0);
  const pid_t us = ::fork();
  if (us == 0) {
    ::close(alive[0]);
    ::dup2(alive[1], STDOUT_FILENO);
    (void)run_child([] {
      return shell("echo; exec 3<>/dev/null; while :; do read x <&1; done");
    }).has_value();
    ::_exit(0);
  }
  ::close(alive[1]);
  char byte = 0;
  ASSERT_EQ(::read(alive[0], &byte, 1), 1);

  ::kill(us, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(us, &status, 0), us);

  EXPECT_EQ(::read(alive[0], &byte, 1), 0);  // nobody is left who could write
}

TEST(Child, ThatStandsStillGoesOnWhenWeAreTold) {
  std::array<int, 2> said{};
  ASSERT_EQ(::pipe(said.data()), 0);
  const pid_t us = ::fork();
  if (us == 0) {
    ::dup2(said[1], STDERR_FILENO);
    const auto ending = run_child([] { return shell("kill -STOP $$; exit 6"); });
    ::_exit(end_like(ending->status));
  }
  std::array<char, 256> text{};
  ASSERT_GT(::read(said[0], text.data(), text.size() - 1), 0);
  EXPECT_THAT(text.data(), ::testing::HasSubstr("anyrdma: the program is stopped. `kill -CONT"));

  ::kill(us, SIGCONT);

  int status = 0;
  ASSERT_EQ(::waitpid(us, &status, 0), us);
  EXPECT_EQ(WEXITSTATUS(status), 6);
}

TEST(Child, IsWaitedForByWhoeverIgnoresChildren) {
  EXPECT_EQ(WEXITSTATUS(status_of([] {
              ::signal(SIGCHLD, SIG_IGN);
              const auto ending = run_child([] { return shell("exit 4"); });
              return end_like(ending->status);
            })),
            4);
}

TEST(Child, HasTheMaskThatWeHad) {
  sigset_t usr2;
  sigemptyset(&usr2);
  sigaddset(&usr2, SIGUSR2);

  const int status = status_of([&usr2] {
    ::sigprocmask(SIG_SETMASK, &usr2, nullptr);
    const auto ending = run_child([]() -> Exit {
      sigset_t mask;
      ::sigprocmask(SIG_SETMASK, nullptr, &mask);
      ::_exit(sigismember(&mask, SIGUSR2) * 10 + sigismember(&mask, SIGUSR1));
    });
    return end_like(ending->status);
  });

  EXPECT_EQ(WEXITSTATUS(status), 10);
}

}  // namespace
}  // namespace anyrdma::tools
