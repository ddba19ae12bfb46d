#include "transport/realtime/eventfd_semaphore.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pthread.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <thread>

#include "transport/realtime/testing/can_cancel.h"

namespace anyrdma::transport::realtime {
namespace {

class EventfdSemaphoreTest : public ::testing::Test {
 protected:
  bool readable() const {
    pollfd entry{semaphore->fd(), POLLIN, 0};
    return ::poll(&entry, 1, 0) == 1;
  }
  std::unique_ptr<verbs::Semaphore> semaphore = EventfdSemaphore::create().value();
};

TEST_F(EventfdSemaphoreTest, IsReadableExactlyWhileAUnitIsThere) {
  EXPECT_FALSE(readable());
  semaphore->post();
  semaphore->post();
  EXPECT_TRUE(readable());
  EXPECT_TRUE(semaphore->wait());
  EXPECT_TRUE(readable());
  EXPECT_TRUE(semaphore->try_wait());
  EXPECT_FALSE(readable());
}

TEST_F(EventfdSemaphoreTest, TryingDoesNotWaitAndLeavesErrnoAlone) {
  errno = 4711;
  EXPECT_FALSE(semaphore->try_wait());
  EXPECT_EQ(errno, 4711);
}

TEST_F(EventfdSemaphoreTest, HonoursANonBlockingDescriptor) {
  ASSERT_EQ(::fcntl(semaphore->fd(), F_SETFL, O_NONBLOCK), 0);
  EXPECT_EQ(semaphore->wait().error().value(), EAGAIN);
}

TEST_F(EventfdSemaphoreTest, WakesAWaiter) {
  std::thread waiter([this] { EXPECT_TRUE(semaphore->wait()); });
  semaphore->post();
  waiter.join();
}

TEST_F(EventfdSemaphoreTest, ASignalEndsTheWait) {
  struct sigaction action {};
  action.sa_handler = [](int) {};
  ASSERT_EQ(::sigaction(SIGUSR1, &action, nullptr), 0);
  std::atomic<int> error = 0;
  std::thread waiter([this, &error] { error = semaphore->wait().error().value(); });
  while (error == 0) ::pthread_kill(waiter.native_handle(), SIGUSR1);
  waiter.join();
  EXPECT_EQ(error, EINTR);
}

TEST_F(EventfdSemaphoreTest, TheWaitIsACancellationPoint) {
  if (!testing::kCanCancelThreads) GTEST_SKIP() << "not under AddressSanitizer";
  pthread_t waiter;
  const auto body = [](void* self) -> void* {
    (void)static_cast<verbs::Semaphore*>(self)->wait();
    return nullptr;
  };
  ASSERT_EQ(::pthread_create(&waiter, nullptr, body, semaphore.get()), 0);
  ASSERT_EQ(::pthread_cancel(waiter), 0);
  void* result = nullptr;
  ASSERT_EQ(::pthread_join(waiter, &result), 0);
  EXPECT_EQ(result, PTHREAD_CANCELED);
}

}  // namespace
}  // namespace anyrdma::transport::realtime
