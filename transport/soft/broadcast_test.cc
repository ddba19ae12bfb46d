#include "transport/soft/broadcast.h"

#include <gtest/gtest.h>

namespace anyrdma::transport::soft {
namespace {

Prefix prefix(const char* text) {
  return Prefix::parse(text).value();
}
Address address(const char* text) {
  return prefix(text).address;
}

TEST(Broadcast, IsTheLastAddressOfANetwork) {
  EXPECT_TRUE(is_broadcast(prefix("10.0.0.1/24"), address("10.0.0.255")));
  EXPECT_TRUE(is_broadcast(prefix("10.0.0.1/30"), address("10.0.0.3")));
  EXPECT_TRUE(is_broadcast(prefix("10.1.2.3/8"), address("10.255.255.255")));
  EXPECT_FALSE(is_broadcast(prefix("10.0.0.1/24"), address("10.0.0.254")));
  EXPECT_FALSE(is_broadcast(prefix("10.0.0.1/24"), address("10.0.1.255")));
  EXPECT_FALSE(is_broadcast(prefix("10.0.0.1/24"), address("255.255.255.255")));
}

TEST(Broadcast, IsNotThereInNetworksOfTwoHostsOnLoopbackAndInVersion6) {
  EXPECT_FALSE(is_broadcast(prefix("10.0.0.0/31"), address("10.0.0.1")));
  EXPECT_FALSE(is_broadcast(prefix("10.0.0.1/32"), address("10.0.0.1")));
  EXPECT_FALSE(is_broadcast(prefix("127.0.0.1/8"), address("127.255.255.255")));
  EXPECT_FALSE(is_broadcast(prefix("fd00::1/64"), address("fd00::ffff:ffff:ffff:ffff")));
}

TEST(Broadcast, IsLimitedWithAllOnes) {
  EXPECT_TRUE(is_limited_broadcast(address("255.255.255.255")));
  EXPECT_FALSE(is_limited_broadcast(address("10.255.255.255")));
  EXPECT_FALSE(is_limited_broadcast(address("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff")));
}

}  // namespace
}  // namespace anyrdma::transport::soft
