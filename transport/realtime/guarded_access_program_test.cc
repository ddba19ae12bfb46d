// What is none of a guarded access's business goes where it would have gone. Each case is a child:
// this process itself never has handlers.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdlib>

#include "transport/realtime/guarded_access.h"
#include "transport/realtime/testing/pages.h"

namespace anyrdma::transport::realtime {
namespace {

using testing::fill;
using testing::kPage;
using testing::Pages;

/// How a child ended that did this.
template <class Body>
int status_after(Body body) {
  const pid_t child = ::fork();
  if (child == 0) {
    body();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

void fault() {
  *reinterpret_cast<volatile char*>(std::uintptr_t{8}) = 1;
}

void make_one_access() {
  Pages pages;
  if (!fill(pages.at(), 1)) std::abort();
}

class GuardedAccessInAProgram : public ::testing::Test {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer has handlers of its own";
#endif
  }
};

TEST_F(GuardedAccessInAProgram, AFaultOfTheProgramsOwnStillEndsIt) {
  const int status = status_after([] {
    struct sigaction plain {};
    plain.sa_handler = SIG_DFL;
    ::sigaction(SIGSEGV, &plain, nullptr);
    make_one_access();
    fault();
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGSEGV);
}

TEST_F(GuardedAccessInAProgram, SoDoesASignalThatSomebodySent) {
  const int status = status_after([] {
    struct sigaction plain {};
    plain.sa_handler = SIG_DFL;
    ::sigaction(SIGSEGV, &plain, nullptr);
    make_one_access();
    ::kill(::getpid(), SIGSEGV);
    ::pause();
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGSEGV);
}

void leave(int /*signal*/, siginfo_t* info, void* /*context*/) {
  ::_exit(info->si_addr == reinterpret_cast<void*>(std::uintptr_t{8}) ? 23 : 24);
}

TEST_F(GuardedAccessInAProgram, TheProgramsHandlerHearsOfTheProgramsFaultsOnly) {
  const int status = status_after([] {
    struct sigaction own {};
    own.sa_sigaction = leave;
    own.sa_flags = SA_SIGINFO;
    ::sigaction(SIGSEGV, &own, nullptr);
    Pages pages;
    pages.unmap_second();
    if (fill(pages.at() + kPage, 8)) ::_exit(1);
    fault();
  });
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 23);
}

}  // namespace
}  // namespace anyrdma::transport::realtime
