#include <gtest/gtest.h>
#include <poll.h>
#include <rdma/rsocket.h>

#include <cerrno>

#include "cm/c_api/newer_functions.h"

namespace anyrdma::c_api {
namespace {

TEST(Rsockets, FailWithEnosysAndSaySoOnce) {
  ::testing::internal::CaptureStderr();

  EXPECT_EQ(rsocket(AF_INET, SOCK_STREAM, 0), -1);
  EXPECT_EQ(errno, ENOSYS);
  errno = 0;
  EXPECT_EQ(rpoll(nullptr, 0, 0), -1);
  EXPECT_EQ(errno, ENOSYS);
  errno = 0;
  EXPECT_EQ(repoll_create(0), -1);
  EXPECT_EQ(errno, ENOSYS);
  EXPECT_EQ(repoll_ctl(0, EPOLL_CTL_ADD, 0, nullptr), -1);
  EXPECT_EQ(repoll_wait(0, nullptr, 0, 0), -1);
  EXPECT_EQ(riowrite(0, nullptr, 0, 0, 0), static_cast<std::size_t>(-1));

  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "anyrdma: this program uses rsockets (rsocket(7)), which anyrdma does not offer; its "
            "calls fail with ENOSYS.\n");
}

}  // namespace
}  // namespace anyrdma::c_api
