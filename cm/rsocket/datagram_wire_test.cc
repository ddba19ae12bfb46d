// The bytes of rdma-core's headers of datagrams, written out.
#include "cm/rsocket/datagram_wire.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace anyrdma::rsocket {
namespace {

std::vector<std::byte> datagram_bytes(std::initializer_list<int> values) {
  std::vector<std::byte> all;
  for (const int value : values) all.push_back(static_cast<std::byte>(value));
  return all;
}

Name name4(const char* address, int port) {
  Name name;
  auto& raw = reinterpret_cast<sockaddr_in&>(name.storage);
  raw.sin_family = AF_INET;
  raw.sin_port = htons(static_cast<in_port_t>(port));
  ::inet_pton(AF_INET, address, &raw.sin_addr);
  name.length = sizeof raw;
  return name;
}

Name name6(const char* address, int port) {
  Name name;
  auto& raw = reinterpret_cast<sockaddr_in6&>(name.storage);
  raw.sin6_family = AF_INET6;
  raw.sin6_port = htons(static_cast<in_port_t>(port));
  ::inet_pton(AF_INET6, address, &raw.sin6_addr);
  name.length = sizeof raw;
  return name;
}

std::string text_of(const Name& name) {
  char text[INET6_ADDRSTRLEN] = "";
  if (name.family() == AF_INET6) {
    const auto& raw = reinterpret_cast<const sockaddr_in6&>(name.storage);
    ::inet_ntop(AF_INET6, &raw.sin6_addr, text, sizeof text);
    return text + (" " + std::to_string(ntohs(raw.sin6_port)));
  }
  const auto& raw = reinterpret_cast<const sockaddr_in&>(name.storage);
  ::inet_ntop(AF_INET, &raw.sin_addr, text, sizeof text);
  return text + (" " + std::to_string(ntohs(raw.sin_port)));
}

const std::vector<std::byte> kInUdp =
    datagram_bytes({0x55, 0x55, 0x55, 0x55, 4, 0, 16, 0, 0, 0x01, 0x02, 0x03, 10, 0, 0, 2});

TEST(HeaderInUdp, HasSixteenBytesForIpv4) {
  EXPECT_EQ(put_udp_header({.operation = UdpHeader::Operation::kData,
                            .queue_pair = 0x010203,
                            .local = name4("10.0.0.2", 0)}),
            kInUdp);
  auto packet = kInUdp;
  packet.push_back(std::byte{7});

  const auto headed = get_udp_header(packet, AF_INET);

  ASSERT_TRUE(headed);
  EXPECT_EQ(headed->header.operation, UdpHeader::Operation::kData);
  EXPECT_EQ(headed->header.queue_pair, 0x010203U);
  EXPECT_EQ(text_of(headed->header.local), "10.0.0.2 0");
  EXPECT_TRUE(std::ranges::equal(headed->data, datagram_bytes({7})));
}

TEST(HeaderInUdp, HasTwentyEightBytesForIpv6) {
  const auto bytes = put_udp_header({.operation = UdpHeader::Operation::kControl,
                                     .queue_pair = 0x11,
                                     .local = name6("2001:db8::2", 0)});

  EXPECT_EQ(bytes,
            datagram_bytes({0x55, 0x55, 0x55, 0x55, 6, 7, 28, 0, 0, 0, 0, 0x11,  //
                            0x20, 0x01, 0x0d, 0xb8, 0, 0, 0,  0, 0, 0, 0, 0,    0, 0, 0, 2}));
  const auto headed = get_udp_header(bytes, AF_INET6);
  ASSERT_TRUE(headed);
  EXPECT_EQ(headed->header.operation, UdpHeader::Operation::kControl);
  EXPECT_EQ(text_of(headed->header.local), "2001:db8::2 0");
}

TEST(HeaderInUdp, OfAnythingElseIsRefused) {
  for (std::size_t length = 0; length < kInUdp.size(); ++length) {
    EXPECT_FALSE(get_udp_header(std::span(kInUdp).first(length), AF_INET)) << length;
  }
  EXPECT_FALSE(get_udp_header(kInUdp, AF_INET6));
  for (const std::size_t place : {0U, 4U, 5U, 6U}) {  // tag, version, operation, length
    auto other = kInUdp;
    other[place] = std::byte{9};
    EXPECT_FALSE(get_udp_header(other, AF_INET)) << place;
  }
}

TEST(HeaderBetweenQueuePairs, HasEightBytesForIpv4) {
  const auto bytes = put_source(name4("10.0.0.2", 0x1234));

  EXPECT_EQ(bytes, datagram_bytes({4, 8, 0x12, 0x34, 10, 0, 0, 2}));
  const auto headed = get_source(bytes);
  ASSERT_TRUE(headed);
  EXPECT_EQ(text_of(headed->header), "10.0.0.2 4660");
  EXPECT_TRUE(headed->data.empty());
}

TEST(HeaderBetweenQueuePairs, HasTwentyFourBytesForIpv6) {
  const auto bytes = put_source(name6("2001:db8::2", 0x1234));

  EXPECT_EQ(bytes, datagram_bytes({6,    24,   0x12, 0x34, 0, 0, 0, 0,  //
                                   0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2}));
  ASSERT_TRUE(get_source(bytes));
  EXPECT_EQ(text_of(get_source(bytes)->header), "2001:db8::2 4660");
}

TEST(HeaderBetweenQueuePairs, OfAnythingElseIsRefused) {
  const auto bytes = put_source(name6("2001:db8::2", 1));
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(get_source(std::span(bytes).first(length))) << length;
  }
  for (const std::size_t place : {0U, 1U}) {  // version, length
    auto other = bytes;
    other[place] = std::byte{9};
    EXPECT_FALSE(get_source(other)) << place;
  }
}

}  // namespace
}  // namespace anyrdma::rsocket
