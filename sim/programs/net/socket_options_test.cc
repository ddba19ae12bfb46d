#include "sim/programs/net/socket_options.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <array>
#include <cstring>

namespace anyrdma::sim::programs {
namespace {

int number(const std::vector<std::byte>& value) {
  int result = 0;
  if (value.size() >= sizeof result) std::memcpy(&result, value.data(), sizeof result);
  return result;
}

std::span<const std::byte> bytes_of(const int& value) {
  return std::as_bytes(std::span(&value, 1));
}

TEST(SocketOptions, HaveTheValuesOfLinuxUntilTheyAreSet) {
  SocketOptions options;
  EXPECT_EQ(number(options.get(IPPROTO_TCP, TCP_KEEPIDLE, {})), 7200);
  const int value = 17;
  options.set(IPPROTO_TCP, TCP_KEEPIDLE, bytes_of(value));
  EXPECT_EQ(number(options.get(IPPROTO_TCP, TCP_KEEPIDLE, {})), 17);
  EXPECT_EQ(number(options.get(IPPROTO_IP, IP_TTL, {})), 64) << "of another level";
  EXPECT_EQ(number(options.get(IPPROTO_TCP, 0x7fff, {})), 0) << "not known";
}

TEST(SocketOptions, MayBeSetWithAByteWithNothingAndWithTooMuch) {
  SocketOptions options;
  const std::array<std::byte, 1> off{};
  EXPECT_TRUE(options.hears_own_groups(AF_INET));
  options.set(IPPROTO_IP, IP_MULTICAST_LOOP, off);
  EXPECT_FALSE(options.hears_own_groups(AF_INET));
  EXPECT_TRUE(options.hears_own_groups(AF_INET6));
  options.set(IPPROTO_IPV6, IPV6_V6ONLY, {});
  EXPECT_FALSE(options.only_ipv6());
  const std::vector<std::byte> much(1000, std::byte{1});
  options.set(IPPROTO_IPV6, IPV6_V6ONLY, much);
  EXPECT_TRUE(options.only_ipv6());
  EXPECT_EQ(options.get(IPPROTO_IPV6, IPV6_V6ONLY, {}).size(), SocketOptions::kBytesMax);
}

TEST(SocketOptions, TellTheStateOfAConnection) {
  const SocketOptions options;
  EXPECT_EQ(number(options.get(IPPROTO_TCP, TCP_MAXSEG, {})), 536);
  EXPECT_GT(number(options.get(IPPROTO_TCP, TCP_MAXSEG, {.connected = true})), 536);
  tcp_info info{};
  const auto value = options.get(IPPROTO_TCP, TCP_INFO, {.listening = true});
  ASSERT_EQ(value.size(), sizeof info);
  std::memcpy(&info, value.data(), sizeof info);
  EXPECT_EQ(info.tcpi_state, TCP_LISTEN);
}

}  // namespace
}  // namespace anyrdma::sim::programs
