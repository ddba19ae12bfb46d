#include "sim/programs/process/watched.h"

#include <gtest/gtest.h>
#include <sys/signalfd.h>

#include <csignal>

namespace anyrdma::sim::programs {
namespace {

constexpr std::uint64_t kSignals = 1;  // any: it is a signalfd, or an epoll set with one

/// A signalfd of a blocked signal, which is not pending.
class ReadyTest : public ::testing::Test {
 protected:
  ReadyTest() {
    sigemptyset(&mask_);
    sigaddset(&mask_, SIGUSR1);
    ::sigprocmask(SIG_BLOCK, &mask_, nullptr);
    watched_.descriptor = transport::realtime::Descriptor(::signalfd(-1, &mask_, SFD_CLOEXEC));
  }
  ~ReadyTest() override {
    sigset_t pending;
    int signal = 0;
    if (::sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 1)
      ::sigwait(&mask_, &signal);
    ::sigprocmask(SIG_UNBLOCK, &mask_, nullptr);
  }
  [[nodiscard]] pollfd answer(short events) const {
    return {.fd = watched_.descriptor.get(), .events = POLLIN, .revents = events};
  }

  sigset_t mask_{};
  Watched watched_{.descriptor = {}, .events = POLLIN, .signals = kSignals};
};

TEST_F(ReadyTest, AnAlarmOfTheSupervisorThatHasPassedIsNoNews) {
  EXPECT_FALSE(is_ready(watched_, answer(POLLIN)));
}

TEST_F(ReadyTest, WhatLooksReadableTwiceIsReady) {
  ::raise(SIGUSR1);
  EXPECT_TRUE(is_ready(watched_, answer(POLLIN)));
}

TEST_F(ReadyTest, OfOtherDescriptorsTheFirstAnswerCounts) {
  watched_.signals = 0;
  EXPECT_TRUE(is_ready(watched_, answer(POLLIN)));
  EXPECT_FALSE(is_ready(watched_, answer(0)));
}

TEST_F(ReadyTest, WhatIsNotReadyIsNotAskedForAgain) {
  ::raise(SIGUSR1);
  EXPECT_FALSE(is_ready(watched_, answer(0)));
}

}  // namespace
}  // namespace anyrdma::sim::programs
