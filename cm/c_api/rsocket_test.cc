// What rsocket calls answer to numbers that name no rsocket, and where there are no descriptors.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <rdma/rsocket.h>
#include <unistd.h>

#include <cerrno>

#include "cm/c_api/newer_functions.h"
#include "cm/c_api/testing/cm_door.h"

namespace anyrdma::c_api {
namespace {

class Rsockets : public testing::CmDoor {
 protected:
  /// That `answer` is -1 with `error`.
  static void expect_refused(ssize_t answer, int error) {
    EXPECT_EQ(answer, -1);
    EXPECT_EQ(errno, error) << strerror(errno);
    errno = 0;
  }
};

TEST_F(Rsockets, WithoutDescriptorsFailWithEnosysAndSaySoOnce) {
  ::testing::internal::CaptureStderr();

  expect_refused(rsocket(AF_INET, SOCK_STREAM, 0), ENOSYS);
  expect_refused(rsocket(AF_INET6, SOCK_STREAM, IPPROTO_TCP), ENOSYS);

  EXPECT_EQ(::testing::internal::GetCapturedStderr(),
            "anyrdma: rsocket() failed with ENOSYS: rsockets need descriptors, and the fibers of "
            "the simulator have none. Run the program as a process: anyrdma sim.\n");
}

TEST_F(Rsockets, OfUnknownFamiliesTypesAndProtocolsAreRefused) {
  expect_refused(rsocket(AF_UNIX, SOCK_STREAM, 0), EAFNOSUPPORT);
  expect_refused(rsocket(AF_INET, SOCK_RAW, 0), ENOTSUP);
  expect_refused(rsocket(AF_INET, SOCK_STREAM, IPPROTO_UDP), ENOTSUP);
}

TEST_F(Rsockets, AreNeitherOtherDescriptorsNorNumbers) {
  const int file = ::open("/dev/null", O_RDWR);
  char byte = 0;
  iovec range{.iov_base = &byte, .iov_len = 1};
  msghdr message{};
  message.msg_iov = &range;
  message.msg_iovlen = 1;
  sockaddr_in address{};
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof address;
  int value = 0;
  socklen_t size = sizeof value;
  for (const int number : {-1, file, 1 << 30}) {
    expect_refused(rbind(number, raw, length), EBADF);
    expect_refused(rlisten(number, 1), EBADF);
    expect_refused(raccept(number, nullptr, nullptr), EBADF);
    expect_refused(rconnect(number, raw, length), EBADF);
    expect_refused(rshutdown(number, SHUT_RDWR), EBADF);
    expect_refused(rclose(number), EBADF);
    expect_refused(rrecv(number, &byte, 1, 0), EBADF);
    expect_refused(rrecvfrom(number, &byte, 1, 0, raw, &length), EBADF);
    expect_refused(rrecvmsg(number, &message, 0), EBADF);
    expect_refused(rread(number, &byte, 1), EBADF);
    expect_refused(rreadv(number, &range, 1), EBADF);
    expect_refused(rsend(number, &byte, 1, 0), EBADF);
    expect_refused(rsendto(number, &byte, 1, 0, raw, length), EBADF);
    expect_refused(rsendmsg(number, &message, 0), EBADF);
    expect_refused(rwrite(number, &byte, 1), EBADF);
    expect_refused(rwritev(number, &range, 1), EBADF);
    expect_refused(rgetpeername(number, raw, &length), EBADF);
    expect_refused(rgetsockname(number, raw, &length), EBADF);
    expect_refused(rsetsockopt(number, SOL_SOCKET, SO_RCVBUF, &value, size), EBADF);
    expect_refused(rgetsockopt(number, SOL_SOCKET, SO_RCVBUF, &value, &size), EBADF);
    expect_refused(rfcntl(number, F_GETFL, 0), EBADF);
    expect_refused(riomap(number, &byte, 1, PROT_WRITE, 0, 0), EBADF);
    expect_refused(riounmap(number, &byte, 1), EBADF);
    expect_refused(static_cast<ssize_t>(riowrite(number, &byte, 1, 0, 0)), EBADF);
    epoll_event event{};
    expect_refused(repoll_ctl(number, EPOLL_CTL_ADD, 0, &event), EBADF);
    expect_refused(repoll_wait(number, &event, 1, 0), EBADF);
  }
  ::close(file);
}

TEST_F(Rsockets, AreNeitherNullMessagesNorNegativeCounts) {
  expect_refused(rrecvmsg(0, nullptr, 0), EFAULT);
  expect_refused(rsendmsg(0, nullptr, 0), EFAULT);
  expect_refused(rreadv(0, nullptr, -1), EINVAL);
  expect_refused(rwritev(0, nullptr, -1), EINVAL);
  expect_refused(rpoll(nullptr, 1, 0), EFAULT);
  expect_refused(rselect(-1, nullptr, nullptr, nullptr, nullptr), EINVAL);
  timeval negative{.tv_sec = -1, .tv_usec = 0};
  expect_refused(rselect(0, nullptr, nullptr, nullptr, &negative), EINVAL);
}

TEST_F(Rsockets, AreWaitedForBesideOtherDescriptors) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  pollfd entries[] = {{.fd = ends[0], .events = POLLIN, .revents = 0},
                      {.fd = -1, .events = POLLIN, .revents = 0}};
  EXPECT_EQ(rpoll(entries, 2, 0), 0);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  EXPECT_EQ(rpoll(entries, 2, -1), 1);
  EXPECT_EQ(entries[0].revents, POLLIN);
  EXPECT_EQ(entries[1].revents, 0);

  fd_set readable;
  FD_ZERO(&readable);
  FD_SET(ends[0], &readable);
  fd_set writable;
  FD_ZERO(&writable);
  FD_SET(ends[1], &writable);
  EXPECT_EQ(rselect(ends[1] + 1, &readable, &writable, nullptr, nullptr), 2);
  EXPECT_TRUE(FD_ISSET(ends[0], &readable));
  EXPECT_TRUE(FD_ISSET(ends[1], &writable));
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(Rsockets, InASetAreWaitedForAsWithEpoll) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  expect_refused(repoll_create(EPOLL_CLOEXEC | 1), EINVAL);
  const int set = repoll_create(0);
  ASSERT_GE(set, 0);
  epoll_event event{.events = EPOLLIN, .data = {.u64 = 0x1122334455667788}};
  epoll_event edge{.events = EPOLLIN | EPOLLET, .data = {}};
  epoll_event found[2]{};
  expect_refused(repoll_ctl(set, EPOLL_CTL_ADD, set, &event), EINVAL);
  expect_refused(repoll_ctl(set, EPOLL_CTL_ADD, 1 << 20, &event), EBADF);
  expect_refused(repoll_ctl(set, EPOLL_CTL_ADD, ends[0], nullptr), EFAULT);
  expect_refused(repoll_ctl(set, EPOLL_CTL_ADD, ends[0], &edge), EINVAL);
  expect_refused(repoll_ctl(set, 99, ends[0], &event), EINVAL);
  expect_refused(repoll_ctl(set, EPOLL_CTL_MOD, ends[0], &event), ENOENT);
  expect_refused(repoll_ctl(set, EPOLL_CTL_DEL, ends[0], &event), ENOENT);
  EXPECT_EQ(repoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event), 0);
  expect_refused(repoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event), EEXIST);
  expect_refused(repoll_wait(set, found, 0, 0), EINVAL);
  expect_refused(repoll_wait(set, nullptr, 1, 0), EFAULT);
  EXPECT_EQ(repoll_wait(set, found, 2, 0), 0);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  EXPECT_EQ(repoll_wait(set, found, 2, -1), 1);
  const std::uint64_t told = found[0].data.u64;  // which may be misaligned: the structure is packed
  EXPECT_EQ(told, 0x1122334455667788U);
  EXPECT_EQ(found[0].events, static_cast<std::uint32_t>(EPOLLIN));
  EXPECT_EQ(repoll_ctl(set, EPOLL_CTL_DEL, ends[0], nullptr), 0);
  EXPECT_EQ(repoll_wait(set, found, 2, 0), 0);
  EXPECT_EQ(rclose(set), 0);
  expect_refused(rclose(set), EBADF);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST_F(Rsockets, InASetThatReportsOnceAreSilentUntilTheyAreChanged) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  ASSERT_EQ(::write(ends[1], "x", 1), 1);
  const int set = repoll_create(EPOLL_CLOEXEC);
  epoll_event event{.events = EPOLLIN | EPOLLONESHOT, .data = {}};
  epoll_event found{};
  EXPECT_EQ(repoll_ctl(set, EPOLL_CTL_ADD, ends[0], &event), 0);
  EXPECT_EQ(repoll_wait(set, &found, 1, -1), 1);
  EXPECT_EQ(repoll_wait(set, &found, 1, 0), 0);
  EXPECT_EQ(repoll_ctl(set, EPOLL_CTL_MOD, ends[0], &event), 0);
  EXPECT_EQ(repoll_wait(set, &found, 1, 0), 1);
  EXPECT_EQ(rclose(set), 0);
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace anyrdma::c_api
