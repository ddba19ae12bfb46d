#include "verbs/soft/frame.h"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "verbs/soft/icrc.h"
#include "verbs/soft/wire/crc32.h"
#include "verbs/soft/wire/pcap.h"

namespace anyrdma::roce {
namespace {

ibv_gid ipv6(std::uint8_t last) {
  ibv_gid gid{};
  gid.raw[0] = 0xfe;
  gid.raw[1] = 0x80;
  gid.raw[15] = last;
  return gid;
}

ibv_gid ipv4(std::uint8_t last) {
  ibv_gid gid{};
  gid.raw[10] = gid.raw[11] = 0xff;
  gid.raw[12] = 10;
  gid.raw[15] = last;
  return gid;
}

verbs::soft::PacketPtr sample(verbs::soft::PacketPool& pool, ibv_gid source, ibv_gid destination) {
  auto packet = pool.take();
  packet->source = source;
  packet->destination = destination;
  packet->udp_source_port = 0xc123;
  packet->traffic_class = 0x28;
  packet->size = 64;
  for (std::uint8_t i = 0; i < 64; ++i) packet->storage[i] = i;
  seal(*packet);
  return packet;
}

TEST(Crc32, OfTheCheckStringIsTheStandardsValue) {
  const char* text = "123456789";
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(text), 9);
  EXPECT_EQ(~crc32_update(0xffffffff, bytes), 0xcbf43926u);
}

TEST(Frame, AnIpv6PacketSurvivesTheRoundTrip) {
  verbs::soft::PacketPool pool;
  const auto packet = sample(pool, ipv6(1), ipv6(2));
  const auto frame = to_frame(*packet, mac_from(packet->source), mac_from(packet->destination));

  auto read = pool.take();
  ASSERT_EQ(from_frame(frame, *read), FrameError::kNone);

  EXPECT_TRUE(icrc_ok(*read));
  EXPECT_EQ(std::memcmp(&read->source, &packet->source, 16), 0);
  EXPECT_EQ(std::memcmp(&read->destination, &packet->destination, 16), 0);
  EXPECT_EQ(read->traffic_class, 0x28);
  EXPECT_EQ(read->udp_source_port, 0xc123);
  EXPECT_TRUE(std::ranges::equal(read->payload(), packet->payload()));
}

TEST(Frame, EveryTruncationOfAnIpv4FrameIsRefused) {
  verbs::soft::PacketPool pool;
  const auto packet = sample(pool, ipv4(1), ipv4(2));
  const auto frame = to_frame(*packet, mac_from(packet->source), mac_from(packet->destination));
  auto read = pool.take();
  for (std::size_t size = 0; size < frame.size(); ++size)
    EXPECT_EQ(from_frame(std::span(frame).first(size), *read), FrameError::kTruncated) << size;
}

TEST(Frame, AnotherUdpPortIsNotRoce) {
  verbs::soft::PacketPool pool;
  const auto packet = sample(pool, ipv4(1), ipv4(2));
  auto frame = to_frame(*packet, {}, {});
  frame[kEthernetBytes + kIpv4Bytes + 2] ^= 1;
  EXPECT_EQ(from_frame(frame, *packet), FrameError::kNotRoce);
}

TEST(Icrc, CoversTheAddressesButNotWhatRoutersChange) {
  verbs::soft::PacketPool pool;
  const auto packet = sample(pool, ipv4(1), ipv4(2));
  packet->hop_limit = 3;
  packet->traffic_class = 0xff;
  EXPECT_TRUE(icrc_ok(*packet));
  packet->source.raw[15] ^= 1;
  EXPECT_FALSE(icrc_ok(*packet));
}

TEST(Icrc, NoticesEveryFlippedPayloadBitButTheCongestionOnes) {
  verbs::soft::PacketPool pool;
  const auto packet = sample(pool, ipv6(1), ipv6(2));
  for (std::size_t bit = 0; bit < std::size_t{64} * 8; ++bit) {
    const auto flip = static_cast<std::uint8_t>(1u << (bit % 8));
    packet->storage[bit / 8] ^= flip;
    EXPECT_EQ(icrc_ok(*packet), bit / 8 == 4) << bit;
    packet->storage[bit / 8] ^= flip;
  }
}

TEST(Pcap, RefusesWhatIsNoCapture) {
  EXPECT_FALSE(pcap::parse({}).has_value());
  auto file = pcap::file_header();
  EXPECT_TRUE(pcap::parse(file).has_value());
  file[0] ^= 1;
  EXPECT_FALSE(pcap::parse(file).has_value());
}

TEST(Pcap, RefusesATruncatedRecord) {
  auto file = pcap::file_header();
  pcap::append(file, verbs::Duration(5), std::vector<std::uint8_t>(10));
  const std::size_t whole = file.size();
  for (std::size_t size = 25; size < whole; ++size)
    EXPECT_FALSE(pcap::parse(std::span(file).first(size)).has_value()) << size;
}

TEST(MulticastGid, HasTheLinkAddressThatIpMapsItTo) {
  ibv_gid gid{};
  gid.raw[0] = 0xff;
  gid.raw[1] = 0x0e;
  gid.raw[12] = 0xaa;
  gid.raw[15] = 0x42;
  EXPECT_TRUE(is_multicast(gid));
  EXPECT_EQ(mac_from(gid), (Mac{0x33, 0x33, 0xaa, 0, 0, 0x42}));
  gid = {};
  gid.raw[10] = gid.raw[11] = 0xff;
  gid.raw[12] = 239;
  gid.raw[13] = 0x81;  // its high bit is not part of the link address
  gid.raw[15] = 1;
  EXPECT_TRUE(is_multicast(gid));
  EXPECT_EQ(mac_from(gid), (Mac{0x01, 0x00, 0x5e, 0x01, 0, 1}));
}

TEST(MulticastGid, IsNotAnyOtherAddress) {
  ibv_gid gid{};
  EXPECT_FALSE(is_multicast(gid));
  gid.raw[10] = gid.raw[11] = 0xff;
  for (const std::uint8_t first : std::initializer_list<std::uint8_t>{1, 127, 223, 240, 255}) {
    gid.raw[12] = first;
    EXPECT_FALSE(is_multicast(gid)) << int{first};
  }
}

class RoutingHeaders : public ::testing::Test {
 protected:
  RoutingHeaders() {
    packet->traffic_class = 0x48;
    packet->hop_limit = 7;
    packet->size = 100;
  }
  void address(std::uint8_t first) {
    for (auto [gid, last] : {std::pair{&packet->source, 1}, std::pair{&packet->destination, 2}}) {
      *gid = {};
      gid->raw[0] = first;
      if (first == 0) gid->raw[10] = gid->raw[11] = 0xff;
      gid->raw[15] = static_cast<std::uint8_t>(last);
    }
  }
  void expect_routing(const std::optional<Routing>& routing) {
    ASSERT_TRUE(routing.has_value());
    EXPECT_TRUE(std::ranges::equal(routing->source.raw, packet->source.raw));
    EXPECT_TRUE(std::ranges::equal(routing->destination.raw, packet->destination.raw));
    EXPECT_EQ(routing->traffic_class, 0x48);
    EXPECT_EQ(routing->hop_limit, 7);
    EXPECT_EQ(routing->flow_label, 0u);
  }

  verbs::soft::PacketPool pool;
  verbs::soft::PacketPtr packet = pool.take();
};

TEST_F(RoutingHeaders, AreReadBackOverBothVersionsOfIp) {
  for (const std::uint8_t first : std::initializer_list<std::uint8_t>{0x00, 0xfd}) {
    address(first);
    expect_routing(read_routing_header(routing_header_of(*packet)));
  }
}

TEST_F(RoutingHeaders, OfIpv4AreKnownByTheirChecksumWhereIpv6CouldStandInFront) {
  address(0);
  RoutingHeader header = routing_header_of(*packet);
  header[0] = 0x60;
  expect_routing(read_routing_header(header));

  header[35] ^= 1;

  EXPECT_FALSE(read_routing_header(header).has_value());
}

TEST_F(RoutingHeaders, OfIpv4NeedNoChecksumBehindNothing) {
  address(0);
  RoutingHeader header = routing_header_of(*packet);
  header[30] = header[31] = 0;  // as rxe leaves them in what it sends to itself

  expect_routing(read_routing_header(header));
}

TEST_F(RoutingHeaders, OfInfiniBandItselfAreToldApart) {
  address(0xfd);
  RoutingHeader header = routing_header_of(*packet);
  EXPECT_FALSE(read_routing_header(header)->native);
  header[6] = 0x1b;

  expect_routing(read_routing_header(header));
  EXPECT_TRUE(read_routing_header(header)->native);
}

TEST_F(RoutingHeaders, OfOtherProtocolsAreNotRead) {
  address(0xfd);
  RoutingHeader header = routing_header_of(*packet);
  header[6] = 0x06;  // TCP

  EXPECT_FALSE(read_routing_header(header).has_value());
  EXPECT_FALSE(read_routing_header(RoutingHeader{}).has_value());
}

}  // namespace
}  // namespace anyrdma::roce
