#include "transport/soft/address.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <cerrno>
#include <cstring>

namespace anyrdma::transport::soft {
namespace {

Address ipv6(const char* text, std::uint16_t port = 0, std::uint32_t scope = 0) {
  sockaddr_in6 in6{};
  in6.sin6_family = AF_INET6;
  in6.sin6_port = htons(port);
  in6.sin6_scope_id = scope;
  inet_pton(AF_INET6, text, &in6.sin6_addr);
  return Address::from(reinterpret_cast<const sockaddr&>(in6)).value();
}

TEST(Address, Ipv4GoesToSockaddrAndBack) {
  const Address address = Address::ipv4(0xc0000201, 7471);

  const sockaddr_storage storage = address.to_sockaddr();

  sockaddr_in in;
  std::memcpy(&in, &storage, sizeof in);
  EXPECT_EQ(in.sin_family, AF_INET);
  EXPECT_EQ(in.sin_port, htons(7471));
  EXPECT_EQ(in.sin_addr.s_addr, htonl(0xc0000201));
  EXPECT_EQ(Address::from(reinterpret_cast<const sockaddr&>(storage)).value(), address);
  EXPECT_EQ(address.to_string(), "192.0.2.1:7471");
}

TEST(Address, Ipv6LinkLocalGoesToSockaddrAndBackWithItsScope) {
  const Address address = ipv6("fe80::1", 80, 2);

  const sockaddr_storage storage = address.to_sockaddr();

  EXPECT_EQ(Address::from(reinterpret_cast<const sockaddr&>(storage)).value(), address);
  EXPECT_EQ(address.to_string(), "[fe80::1%2]:80");
}

TEST(Address, Ipv6LinkLocalWithoutScopeIsRefused) {
  sockaddr_in6 in6{};
  in6.sin6_family = AF_INET6;
  inet_pton(AF_INET6, "fe80::1", &in6.sin6_addr);

  EXPECT_EQ(Address::from(reinterpret_cast<const sockaddr&>(in6)).error(),
            verbs::errno_code(EINVAL));
}

TEST(Address, OtherFamiliesAreRefused) {
  sockaddr_storage storage{};
  storage.ss_family = AF_UNIX;

  EXPECT_EQ(Address::from(reinterpret_cast<const sockaddr&>(storage)).error(),
            verbs::errno_code(EINVAL));
}

TEST(Address, Ipv4IsItsMappedGid) {
  const ibv_gid gid = Address::ipv4(0x0a000001, 5).gid();

  EXPECT_EQ(gid.raw[10], 0xff);
  EXPECT_EQ(gid.raw[11], 0xff);
  EXPECT_EQ(gid.raw[12], 10);
  EXPECT_EQ(gid.raw[15], 1);
  EXPECT_EQ(Address::from_gid(gid), Address::ipv4(0x0a000001));
}

TEST(Address, WildcardsAndLoopbacksAreAny) {
  EXPECT_TRUE(Address::wildcard(AF_INET).is_any());
  EXPECT_TRUE(Address::wildcard(AF_INET6).is_any());
  EXPECT_TRUE(Address::loopback(AF_INET).is_any());
  EXPECT_TRUE(Address::loopback(AF_INET6).is_any());
  EXPECT_TRUE(Address::ipv4(0x7f010203).is_loopback());
  EXPECT_FALSE(Address::ipv4(0x0a000001).is_any());
  EXPECT_FALSE(ipv6("2001:db8::1").is_any());
}

TEST(Address, AllOfNetworkZeroIsTheIpv4Wildcard) {
  EXPECT_TRUE(Address::ipv4(0).is_zero());
  EXPECT_FALSE(Address::ipv4(0x00010203).is_zero()) << "ipv4_is_zeronet: this one address alone";
  EXPECT_FALSE(Address::ipv4(0x01000000).is_zero());
}

TEST(Address, LinkLocalAddressesOfTwoInterfacesDiffer) {
  EXPECT_FALSE(ipv6("fe80::1", 0, 1).same_ip(ipv6("fe80::1", 0, 2)));
  EXPECT_TRUE(ipv6("fe80::1", 4, 1).same_ip(ipv6("fe80::1", 5, 1)));
}

TEST(Address, MulticastIsTold) {
  EXPECT_TRUE(Address::ipv4(0xe0000001).is_multicast());
  EXPECT_TRUE(ipv6("ff02::1").is_multicast());
  EXPECT_FALSE(Address::ipv4(0xdf000001).is_multicast());
}

}  // namespace
}  // namespace anyrdma::transport::soft
