// Marked calls do what libc's functions do, and leave no mark behind.
#include "transport/realtime/prompt_call.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "transport/realtime/descriptor.h"

namespace anyrdma::transport::realtime {
namespace {

class PromptCalls : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    if (GetParam()) mark_prompt_calls();
    std::array<int, 2> pair{};
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair.data()),
              0);
    ours = Descriptor(pair[0]);
    theirs = Descriptor(pair[1]);
  }

  Descriptor ours;
  Descriptor theirs;
  std::array<char, 16> bytes{};
};

TEST_P(PromptCalls, WhatIsSentArrivesAndNothingMore) {
  EXPECT_EQ(prompt_send(ours.get(), "bell", 4, MSG_NOSIGNAL | MSG_DONTWAIT), 4);

  iovec piece{bytes.data(), bytes.size()};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  ASSERT_EQ(prompt_recvmsg(theirs.get(), &message, MSG_DONTWAIT), 4);
  EXPECT_EQ(std::string_view(bytes.data(), 4), "bell");

  EXPECT_EQ(prompt_recvmsg(theirs.get(), &message, MSG_DONTWAIT), -1);
  EXPECT_EQ(errno, EAGAIN);
}

TEST_P(PromptCalls, ManyGoAndComeInOneCall) {
  std::array<iovec, 3> pieces{iovec{bytes.data(), 1}, iovec{bytes.data(), 2},
                              iovec{bytes.data(), 3}};
  std::array<mmsghdr, 3> messages{};
  for (std::size_t i = 0; i < messages.size(); ++i) {
    messages[i].msg_hdr.msg_iov = &pieces[i];
    messages[i].msg_hdr.msg_iovlen = 1;
  }
  EXPECT_EQ(prompt_sendmmsg(ours.get(), messages.data(), 2, MSG_NOSIGNAL | MSG_DONTWAIT), 2);
  EXPECT_EQ(prompt_sendmsg(ours.get(), &messages[2].msg_hdr, MSG_NOSIGNAL | MSG_DONTWAIT), 3);

  for (iovec& piece : pieces) piece.iov_len = bytes.size();
  EXPECT_EQ(prompt_recvmmsg(theirs.get(), messages.data(), 3, MSG_DONTWAIT), 3);
  EXPECT_EQ(messages[0].msg_len, 1u);
  EXPECT_EQ(messages[2].msg_len, 3u);
}

TEST_P(PromptCalls, AnEventfdIsWrittenAndSeen) {
  const Descriptor events(::eventfd(0, EFD_CLOEXEC));
  const Descriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  ASSERT_EQ(::epoll_ctl(epoll.get(), EPOLL_CTL_ADD, events.get(), &wanted), 0);
  epoll_event found{};
  EXPECT_EQ(prompt_epoll(epoll.get(), &found, 1), 0);

  const std::uint64_t one = 1;
  EXPECT_EQ(prompt_write(events.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));

  EXPECT_EQ(prompt_epoll(epoll.get(), &found, 1), 1);
}

TEST_P(PromptCalls, AnErrorIsInErrno) {
  EXPECT_EQ(prompt_send(-1, "bell", 4, MSG_DONTWAIT), -1);
  EXPECT_EQ(errno, EBADF);
}

#ifdef __x86_64__

// A read that may wait would not be stopped, and wait in the kernel for ever.
TEST_P(PromptCalls, NoMarkIsLeftForTheNextCall) {
  const std::uint64_t one = 1;
  const Descriptor events(::eventfd(0, EFD_CLOEXEC));
  EXPECT_GT(prompt_write(events.get(), &one, sizeof one), 0);
  std::uint64_t fourth = 0;
  asm volatile("movq %%r10, %0" : "=r"(fourth));
  EXPECT_NE(fourth >> 32, kPromptMark);
}

#endif

// Calls stay marked from the first mark on: those that are not come first.
INSTANTIATE_TEST_SUITE_P(Unmarked, PromptCalls, ::testing::Values(false));
INSTANTIATE_TEST_SUITE_P(ThenMarked, PromptCalls, ::testing::Values(true));

}  // namespace
}  // namespace anyrdma::transport::realtime
