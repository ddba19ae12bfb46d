// Tests of Waiter: the stops that it reports, the children that it leaves to the process, its
// ticks.
#include "sim/tracee/waiter.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <ctime>
#include <new>
#include <thread>

#include "verbs/testing/errno_of.h"

namespace anyrdma::sim::tracee {
namespace {

using namespace std::chrono_literals;
using verbs::testing::errno_of;

/// A child that works when it gets SIGUSR1 (blocked until it waits for it), and then ends with
/// `status`.
pid_t start_child(
    int status, void (*work)() = [] {}) {
  sigset_t one;
  sigset_t before;
  ::sigemptyset(&one);
  ::sigaddset(&one, SIGUSR1);
  ::pthread_sigmask(SIG_BLOCK, &one, &before);
  const pid_t pid = ::fork();
  if (pid == 0) {
    int signal = 0;
    ::sigwait(&one, &signal);
    work();
    ::_exit(status);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return pid;
}

pid_t start_traced(
    int status, void (*work)() = [] {}) {
  const pid_t pid = start_child(status, work);
  EXPECT_EQ(::ptrace(PTRACE_SEIZE, pid, nullptr, nullptr), 0);
  return pid;
}

/// Ends a child, and returns when the kernel can report its end.
void end_child(pid_t pid) {
  ::kill(pid, SIGUSR1);
  siginfo_t info{};
  EXPECT_EQ(::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT), 0);
}

int exit_status_of(pid_t pid) {
  int status = 0;
  while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void count_nothing(int /*signal*/) {}

TEST(Waiter, HearsOfTracedThreadsAlone) {
  Waiter waiter(5s);
  const pid_t other = start_child(3);
  const pid_t traced = start_traced(4);
  end_child(other);
  EXPECT_EQ(errno_of(waiter.next_now()), EAGAIN);

  ::kill(traced, SIGUSR1);
  const auto heard = waiter.next();

  ASSERT_TRUE(heard);
  EXPECT_EQ(heard->tid, traced);
  EXPECT_EQ(heard->kind, StopKind::kGone);
  EXPECT_EQ(WEXITSTATUS(heard->detail), 4);
  EXPECT_EQ(errno_of(waiter.next()), ECHILD);
  int status = 0;
  EXPECT_EQ(::waitpid(-1, &status, 0), other);
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST(Waiter, HearsNothingOfWhatAnotherThreadTraces) {
  std::thread([] {
    Waiter other(5s);
    const pid_t traced = start_traced(4);
    end_child(traced);
    std::thread([] {
      Waiter nobodys(5s);
      EXPECT_EQ(errno_of(nobodys.next()), ECHILD);
    }).join();
    const auto heard = other.next();
    ASSERT_TRUE(heard);
    EXPECT_EQ(heard->tid, traced);
  }).join();
}

TEST(Waiter, TicksWhileNobodyStops) {
  Waiter waiter(1ms);
  const pid_t traced = start_traced(0);

  for (int i = 0; i < 3; ++i) EXPECT_EQ(errno_of(waiter.next()), EINTR);

  EXPECT_EQ(errno_of(waiter.next_now()), EAGAIN);
  ::kill(traced, SIGUSR1);
  EXPECT_EQ(exit_status_of(traced), 0);
}

// The caller's handlers interrupt waits, which a thread that does nothing must not pay for.
TEST(Waiter, TicksAtItsOwnPaceWhateverElseInterrupts) {
  constexpr int kTicks = 5;
  constexpr auto kPause = 20ms;
  struct sigaction action {};
  struct sigaction before {};
  action.sa_handler = count_nothing;
  ::sigaction(SIGALRM, &action, &before);
  constexpr itimerval kOften{.it_interval = {0, 200}, .it_value = {0, 200}};
  ASSERT_EQ(::setitimer(ITIMER_REAL, &kOften, nullptr), 0);
  Waiter waiter(kPause);
  const pid_t traced = start_traced(0);

  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kTicks; ++i) EXPECT_EQ(errno_of(waiter.next()), EINTR);
  EXPECT_GE(std::chrono::steady_clock::now() - start, kTicks * kPause / 2);

  constexpr itimerval kNever{};
  ASSERT_EQ(::setitimer(ITIMER_REAL, &kNever, nullptr), 0);
  ::sigaction(SIGALRM, &before, nullptr);
  ::kill(traced, SIGUSR1);
  EXPECT_EQ(exit_status_of(traced), 0);
}

TEST(Waiter, InterruptsNoCallBetweenItsWaits) {
  Waiter waiter(1ms);
  const pid_t traced = start_traced(0);

  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(errno_of(waiter.next()), EINTR);
    EXPECT_EQ(::poll(nullptr, 0, 20), 0) << std::strerror(errno);
  }
  ::kill(traced, SIGUSR1);
  EXPECT_EQ(exit_status_of(traced), 0);
}

/// Stops at each signal that it sends to itself, without end.
void stop_again_and_again() {
  const pid_t own = ::getpid();
  for (;;) ::kill(own, SIGUSR2);
}

// A tick that comes just when the wait ends must not interrupt what the caller does next.
TEST(Waiter, InterruptsNoCallThatFollowsAStopOrATick) {
  constexpr int kStops = 2000;
  constexpr int kStopsUntilATick = 16;
  constexpr timespec kMoment{.tv_sec = 0, .tv_nsec = 20'000};
  Waiter waiter(50us);
  const pid_t traced = start_traced(0, stop_again_and_again);
  ::kill(traced, SIGUSR1);

  for (int stops = 0; stops < kStops;) {
    const auto heard = waiter.next();
    ASSERT_EQ(::clock_nanosleep(CLOCK_MONOTONIC, 0, &kMoment, nullptr), 0);
    if (!heard) {
      ASSERT_EQ(errno_of(heard), EINTR);
      continue;
    }
    ASSERT_EQ(heard->kind, StopKind::kSignal);
    if (++stops % kStopsUntilATick == 0) {
      ASSERT_EQ(errno_of(waiter.next()), EINTR) << "while the thread stands";
      ASSERT_EQ(::clock_nanosleep(CLOCK_MONOTONIC, 0, &kMoment, nullptr), 0);
    }
    ::ptrace(PTRACE_CONT, heard->tid, nullptr, nullptr);
  }

  ::kill(traced, SIGKILL);
  int status = 0;
  while (::waitpid(traced, &status, __WALL) == traced && WIFSTOPPED(status)) continue;
}

TEST(Waiter, EndsInAChildOfFork) {
  alignas(Waiter) std::array<std::byte, sizeof(Waiter)> place;
  auto* const waiter = new (place.data()) Waiter(1ms);
  const pid_t traced = start_traced(0);
  EXPECT_EQ(errno_of(waiter->next()), EINTR) << "its thread is at work";
  const pid_t child = ::fork();
  if (child == 0) {
    waiter->~Waiter();
    ::_exit(3);
  }
  EXPECT_EQ(exit_status_of(child), 3);
  waiter->~Waiter();
  ::kill(traced, SIGUSR1);
  EXPECT_EQ(exit_status_of(traced), 0);
}

TEST(Waiter, TicksWhereAllSignalsAreBlockedAndShowsInNoSignalDescriptor) {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  const int descriptor = ::signalfd(-1, &all, SFD_NONBLOCK | SFD_CLOEXEC);
  sigset_t blocked;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  {
    Waiter waiter(1ms);
    const pid_t traced = start_traced(0);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(errno_of(waiter.next()), EINTR);
    ::kill(traced, SIGKILL);
    (void)exit_status_of(traced);
  }
  signalfd_siginfo info{};
  while (::read(descriptor, &info, sizeof info) == ssize_t{sizeof info})
    EXPECT_EQ(info.ssi_signo, static_cast<std::uint32_t>(SIGCHLD));
  sigset_t after;
  ::pthread_sigmask(SIG_SETMASK, &before, &after);
  for (int signal = 1; signal <= SIGRTMAX; ++signal)
    EXPECT_EQ(::sigismember(&after, signal), ::sigismember(&blocked, signal)) << signal;
  ::close(descriptor);
}

TEST(Waiter, TakesNoSignalThatHasAHandlerOrIsIgnored) {
  struct sigaction action {};
  action.sa_handler = count_nothing;
  ::sigaction(SIGRTMAX, &action, nullptr);
  action.sa_handler = SIG_IGN;
  ::sigaction(SIGRTMAX - 1, &action, nullptr);
  {
    Waiter waiter(1ms);
    const pid_t traced = start_traced(0);
    EXPECT_EQ(errno_of(waiter.next()), EINTR);
    ::kill(traced, SIGUSR1);
    EXPECT_EQ(exit_status_of(traced), 0);
  }
  for (const int signal : {SIGRTMAX, SIGRTMAX - 1}) {
    const auto expected = signal == SIGRTMAX ? count_nothing : SIG_IGN;
    ::sigaction(signal, nullptr, &action);
    EXPECT_EQ(action.sa_handler, expected);
    ::signal(signal, SIG_DFL);
  }
}

}  // namespace
}  // namespace anyrdma::sim::tracee
