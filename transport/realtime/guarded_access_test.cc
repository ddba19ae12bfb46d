#include "transport/realtime/guarded_access.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <thread>

#include "transport/realtime/testing/pages.h"

namespace anyrdma::transport::realtime {
namespace {

using testing::fill;
using testing::kPage;
using testing::Pages;

TEST(GuardedAccess, DoesWhatItIsGiven) {
  Pages pages;
  EXPECT_TRUE(fill(pages.at(), 2 * kPage));
  EXPECT_EQ(pages.at()[2 * kPage - 1], 7);
}

TEST(GuardedAccess, SaysThatMemoryIsNotThereOrMayNotBeWritten) {
  Pages pages;
  pages.protect_second(PROT_READ);
  EXPECT_FALSE(fill(pages.at() + kPage, 8));
  pages.protect_second(PROT_READ | PROT_WRITE);
  EXPECT_TRUE(fill(pages.at() + kPage, 8));
  pages.unmap_second();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(fill(pages.at(), 2 * kPage));
  EXPECT_TRUE(fill(pages.at(), kPage));
}

TEST(GuardedAccess, SaysThatAFileIsShorterThanItsMapping) {
  const int fd = ::memfd_create("short", MFD_CLOEXEC);
  ASSERT_EQ(::ftruncate(fd, kPage), 0);
  void* const at = ::mmap(nullptr, kPage, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  EXPECT_TRUE(fill(static_cast<std::uint8_t*>(at), kPage));
  ASSERT_EQ(::ftruncate(fd, 0), 0);
  EXPECT_FALSE(fill(static_cast<std::uint8_t*>(at), kPage));
  ::munmap(at, kPage);
  ::close(fd);
}

TEST(GuardedAccess, WorksInAThreadThatStartedWithAllSignalsBlocked) {
  Pages pages;
  pages.unmap_second();
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread other([&] { EXPECT_FALSE(fill(pages.at() + kPage, 8)); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  other.join();
}

TEST(GuardedAccess, EveryThreadHasItsOwn) {
  Pages pages;
  pages.unmap_second();
  const auto both = [&] {
    for (int i = 0; i < 1000; ++i) {
      ASSERT_FALSE(fill(pages.at() + kPage, 8));
      ASSERT_TRUE(fill(pages.at(), 8));
    }
  };
  std::thread other(both);
  both();
  other.join();
}

}  // namespace
}  // namespace anyrdma::transport::realtime
