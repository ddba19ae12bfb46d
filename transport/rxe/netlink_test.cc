// Over NETLINK_ROUTE, which every machine answers.
#include "transport/rxe/netlink.h"

#include <gtest/gtest.h>
#include <linux/rtnetlink.h>
#include <netlink/errno.h>

#include <cerrno>

namespace anyrdma::transport::rxe {
namespace {

Message request_of(int type, int flags, const void* body, std::size_t size) {
  Message message(nlmsg_alloc_simple(type, flags));
  EXPECT_EQ(nlmsg_append(message.get(), const_cast<void*>(body), size, NLMSG_ALIGNTO), 0);
  return message;
}

TEST(Netlink, HandsOverEachAnswerOfAList) {
  auto netlink = Netlink::open(NETLINK_ROUTE).value();
  const ifinfomsg all{};
  const Message request = request_of(RTM_GETLINK, NLM_F_DUMP, &all, sizeof all);
  int interfaces = 0;

  const auto asked = netlink.ask(
      *request, [&](nlmsghdr& answer) { interfaces += answer.nlmsg_type == RTM_NEWLINK ? 1 : 0; });

  EXPECT_TRUE(asked);
  EXPECT_GE(interfaces, 1);  // lo
}

TEST(Netlink, SaysWhatTheKernelSays) {
  auto netlink = Netlink::open(NETLINK_ROUTE).value();
  ifinfomsg nobody{};
  nobody.ifi_index = 0x7fffffff;
  const Message request = request_of(RTM_GETLINK, 0, &nobody, sizeof nobody);

  EXPECT_EQ(netlink.ask(*request).error().value(), ENODEV);
}

TEST(Netlink, AsksAgainAfterARefusal) {
  auto netlink = Netlink::open(NETLINK_ROUTE).value();
  ifinfomsg which{};
  which.ifi_index = 0x7fffffff;
  EXPECT_FALSE(netlink.ask(*request_of(RTM_GETLINK, 0, &which, sizeof which)));
  which.ifi_index = 1;

  EXPECT_TRUE(netlink.ask(*request_of(RTM_GETLINK, 0, &which, sizeof which)));
}

TEST(Netlink, AProtocolThatTheKernelLacksIsNotSupported) {
  EXPECT_EQ(Netlink::open(MAX_LINKS - 1).error().value(), EPROTONOSUPPORT);
}

TEST(NetlinkErrno, IsTheKernelsWhereLibnlKeptIt) {
  EXPECT_EQ(errno_of_netlink(-NLE_PERM), EPERM);
  EXPECT_EQ(errno_of_netlink(-NLE_NODEV), ENODEV);
  EXPECT_EQ(errno_of_netlink(-NLE_EXIST), EEXIST);
  EXPECT_EQ(errno_of_netlink(-NLE_FAILURE), EIO);
  for (int code = 1; code <= NLE_MAX; ++code) EXPECT_GT(errno_of_netlink(-code), 0) << code;
}

}  // namespace
}  // namespace anyrdma::transport::rxe
