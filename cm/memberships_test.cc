#include "cm/memberships.h"

#include <gtest/gtest.h>
#include <netinet/in.h>

namespace anyrdma::cm {
namespace {

using transport::JoinState;
using transport::MembershipId;

sockaddr_in6 group(std::uint8_t last) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr.s6_addr[0] = 0xff;
  address.sin6_addr.s6_addr[15] = last;
  return address;
}
const sockaddr& plain(const sockaddr_in6& address) {
  return reinterpret_cast<const sockaddr&>(address);
}

TEST(Memberships, AreFoundByTheirNumberFromOne) {
  Memberships all;
  Membership& one = all.add(plain(group(1)), JoinState::kFullMember, &all);
  Membership& two = all.add(plain(group(2)), JoinState::kSendOnlyFullMember, nullptr);

  EXPECT_EQ(all.find(MembershipId{1}), &one);
  EXPECT_EQ(all.find(MembershipId{2}), &two);
  EXPECT_EQ(all.find(MembershipId{0}), nullptr);
  EXPECT_EQ(one.context, &all);
  EXPECT_EQ(two.state, JoinState::kSendOnlyFullMember);
}

TEST(Memberships, OfTheSameGroupEndNewestFirst) {
  Memberships all;
  Membership& older = all.add(plain(group(1)), JoinState::kFullMember, nullptr);
  Membership& newer = all.add(plain(group(1)), JoinState::kFullMember, nullptr);

  EXPECT_EQ(all.newest(plain(group(1))), &newer);
  EXPECT_EQ(all.remove(newer)->id, MembershipId{2});
  EXPECT_EQ(all.newest(plain(group(1))), &older);
}

TEST(Memberships, OfAnotherGroupOrPortAreOthers) {
  Memberships all;
  all.add(plain(group(1)), JoinState::kFullMember, nullptr);
  sockaddr_in6 other_port = group(1);
  other_port.sin6_port = htons(1);

  EXPECT_EQ(all.newest(plain(group(2))), nullptr);
  EXPECT_EQ(all.newest(plain(other_port)), nullptr);
}

TEST(Memberships, KeepCountingAfterOneIsGone) {
  Memberships all;
  Membership& gone = all.add(plain(group(1)), JoinState::kFullMember, nullptr);
  EXPECT_NE(all.remove(gone), nullptr);

  EXPECT_EQ(all.add(plain(group(1)), JoinState::kFullMember, nullptr).id, MembershipId{2});
  EXPECT_EQ(all.find(MembershipId{1}), nullptr);
}

}  // namespace
}  // namespace anyrdma::cm
