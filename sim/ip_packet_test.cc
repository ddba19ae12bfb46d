// TCP, UDP and ICMP as bytes, and on the world's links.
#include "recording/packets/ip_packet.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/trace/trace_reader.h"
#include "sim/world.h"
#include "verbs/soft/frame.h"
#include "verbs/soft/wire/pcap.h"

namespace anyrdma::sim {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using verbs::soft::Packet;

std::vector<std::uint8_t> bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

ibv_gid gid(const char* address) {
  return Prefix::parse(address)->address.gid();
}

std::unique_ptr<Packet> packet_between(const char* from, const char* to) {
  auto packet = std::make_unique<Packet>();
  packet->source = gid(from);
  packet->destination = gid(to);
  return packet;
}

bool is_right(const Packet& packet) {
  return recording::checksum_is_right(packet.source, packet.destination, packet.ip_protocol,
                                      packet.payload());
}

// Checksums of this file were computed apart, by the definition of RFC 1071.
TEST(IpPacket, ATcpSegmentComesBackAsItWasWritten) {
  auto packet = packet_between("10.0.0.1", "10.0.0.2");
  const recording::TcpHeader header{
      .source = 7000,
      .destination = 32768,
      .sequence = 1000,
      .acknowledged = 2000,
      .flags = recording::TcpHeader::kAck | recording::TcpHeader::kPush,
      .window = 512};

  recording::write_tcp(*packet, header, 0, 0, bytes_of("abc"));

  const auto view = recording::read_tcp(packet->payload());
  ASSERT_TRUE(view);
  EXPECT_EQ(view->header.source, 7000);
  EXPECT_EQ(view->header.destination, 32768);
  EXPECT_EQ(view->header.sequence, 1000u);
  EXPECT_EQ(view->header.acknowledged, 2000u);
  EXPECT_TRUE(view->header.has(recording::TcpHeader::kAck));
  EXPECT_FALSE(view->header.has(recording::TcpHeader::kSyn));
  EXPECT_EQ(view->header.window, 512);
  EXPECT_EQ(std::string(view->data.begin(), view->data.end()), "abc");
  EXPECT_EQ(packet->storage[16] << 8 | packet->storage[17], 0x2e54);
  EXPECT_TRUE(is_right(*packet));
}

TEST(IpPacket, AFlippedBitAnywhereMakesTheChecksumWrong) {
  auto packet = packet_between("10.0.0.1", "10.0.0.2");
  recording::write_tcp(*packet, {.flags = recording::TcpHeader::kSyn}, 4096, 7, {});
  for (std::size_t bit = 0; bit < std::size_t{packet->size} * 8; ++bit) {
    packet->storage[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    EXPECT_FALSE(is_right(*packet)) << "bit " << bit;
    packet->storage[bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
  }
}

TEST(IpPacket, ASegmentThatIsCutOffIsNone) {
  auto packet = packet_between("10.0.0.1", "10.0.0.2");
  recording::write_tcp(*packet, {.flags = recording::TcpHeader::kSyn}, 4096, 7, {});
  for (std::size_t size = 0; size < packet->size; ++size)
    EXPECT_FALSE(recording::read_tcp(packet->payload().first(size))) << size;
}

TEST(IpPacket, ADatagramOverIpv6HasItsChecksum) {
  std::vector<std::uint8_t> datagram(recording::UdpHeader::kBytes);
  for (const char each : std::string_view("hello")) datagram.push_back(static_cast<uint8_t>(each));
  const ibv_gid source = gid("2001:db8::1");
  const ibv_gid destination = gid("2001:db8::2");

  recording::seal_udp(source, destination, {.source = 9, .destination = 10}, datagram);

  EXPECT_EQ(datagram[6] << 8 | datagram[7], 0x607a);
  EXPECT_TRUE(recording::checksum_is_right(source, destination, recording::kIpUdp, datagram));
  const auto view = recording::read_udp(datagram);
  ASSERT_TRUE(view);
  EXPECT_EQ(view->header.source, 9);
  EXPECT_EQ(view->header.destination, 10);
  EXPECT_EQ(std::string(view->data.begin(), view->data.end()), "hello");
  EXPECT_FALSE(recording::read_udp(std::span(datagram).first(datagram.size() - 1)));
}

TEST(IpPacket, ARefusalQuotesThePorts) {
  for (const auto& [from, to] : {std::pair("10.0.0.1", "10.0.0.2"), {"fd00::1", "fd00::2"}}) {
    auto lost = packet_between(from, to);
    lost->ip_protocol = recording::kIpUdp;
    lost->size = 20;
    recording::seal_udp(lost->source, lost->destination, {.source = 9, .destination = 10},
                        lost->payload());
    Packet refusal;

    recording::write_refusal(refusal, *lost);

    EXPECT_TRUE(is_right(refusal)) << from;
    const auto ports = recording::read_refusal(refusal);
    ASSERT_TRUE(ports);
    EXPECT_EQ(ports->source, 9);
    EXPECT_EQ(ports->destination, 10);
    EXPECT_EQ(0, std::memcmp(refusal.destination.raw, lost->source.raw, 16));
    refusal.storage[1] ^= 1;
    EXPECT_FALSE(recording::read_refusal(refusal)) << "of another kind";
  }
}

TEST(IpPacket, PartsOfADatagramSayWhereTheyBelong) {
  for (const auto& [from, to] : {std::pair("10.0.0.1", "10.0.0.2"), {"fd00::1", "fd00::2"}}) {
    auto packet = packet_between(from, to);
    EXPECT_FALSE(recording::fragment_of(*packet));
    const auto data = bytes_of("12345678");

    recording::write_fragment(*packet, {.protocol = recording::kIpUdp,
                                        .identification = 77,
                                        .offset = 4096,
                                        .more = true,
                                        .data = data});

    const auto fragment = recording::fragment_of(*packet);
    ASSERT_TRUE(fragment) << from;
    EXPECT_EQ(fragment->protocol, recording::kIpUdp);
    EXPECT_EQ(fragment->identification, 77u);
    EXPECT_EQ(fragment->offset, 4096u);
    EXPECT_TRUE(fragment->more);
    EXPECT_TRUE(std::ranges::equal(fragment->data, data));
  }
}

// --- on the links -------------------------------------------------------------------------------

class IpOnLinks : public ::testing::Test, private IpReceiver {
 protected:
  IpOnLinks() { world.set_ip_receiver(this); }
  ~IpOnLinks() override { world.set_ip_receiver(nullptr); }

  void send(std::uint32_t sequence) {
    auto packet = packet_between("10.0.0.1", "10.0.0.2");
    recording::write_tcp(*packet, {.source = 1, .destination = 2, .sequence = sequence}, 0, 0,
                         bytes_of("data"));
    client.interfaces().send_from(0, *packet);
    world.run_for(1ms);
  }
  void inject(std::string_view plan) {
    ASSERT_TRUE(world.faults().inject(FaultPlan::parse(plan).value()));
  }

  World world{1, {.capture = true}};
  Host& client = world.add_host("client", {"10.0.0.1"});
  Host& server = world.add_host("server", {"10.0.0.2"});
  std::vector<std::uint32_t> arrived;  ///< sequence numbers
  Instant last_arrival{};

 private:
  void on_ip(Host& at, const Packet& packet) override {
    EXPECT_EQ(&at, &server);
    arrived.push_back(recording::read_tcp(packet.payload())->header.sequence);
    last_arrival = world.now();
  }
};

TEST_F(IpOnLinks, APacketTakesTheLinksTimeAndIsInTheTrace) {
  world.set_path(client, server, {.latency = 70us});
  send(5);
  EXPECT_THAT(arrived, ElementsAre(5));
  EXPECT_EQ(last_arrival.time_since_epoch(), 70us);
  EXPECT_EQ(world.trace().text(),
            "0.000000000 client -> server TCP 1>2 seq=5 ack=0 window=0 length=4\n");
  TraceError error;
  EXPECT_TRUE(parse_trace(world.trace().text(), error)) << error.to_string();
}

TEST_F(IpOnLinks, TheTraceTellsNothingOfTheData) {
  auto packet = packet_between("10.0.0.1", "10.0.0.2");
  const auto head_of = [&](std::string_view data) {
    recording::write_tcp(*packet, {.source = 1, .destination = 2}, 0, 0, bytes_of(data));
    return recording::ip_head(*packet);
  };
  EXPECT_EQ(head_of("0x7f3a"), head_of("0x7f3b"));
}

TEST_F(IpOnLinks, FaultsAndCutsStrikeIt) {
  inject("on client->server packet 1: lose\non client->server packet 2: corrupt");
  for (std::uint32_t i = 1; i <= 3; ++i) send(i);
  EXPECT_THAT(arrived, ElementsAre(3));
  EXPECT_THAT(world.trace().text(), HasSubstr("drop (client): malformed: TCP"));

  world.set_link(client, server, {.down = true});
  send(4);

  EXPECT_THAT(arrived, ElementsAre(3));
  EXPECT_THAT(world.trace().text(), HasSubstr("link down: TCP"));
}

TEST_F(IpOnLinks, NothingPassesAPortThatIsDown) {
  ASSERT_TRUE(server.devices().set_port("anyrdma0", false));
  send(1);
  ASSERT_TRUE(server.devices().set_port("anyrdma0", true));
  ASSERT_TRUE(client.devices().set_port("anyrdma0", false));
  send(2);
  EXPECT_THAT(arrived, IsEmpty());
  ASSERT_TRUE(client.devices().set_port("anyrdma0", true));

  send(3);

  EXPECT_THAT(arrived, ElementsAre(3));
}

TEST_F(IpOnLinks, TheCaptureHasAWholeFrame) {
  send(5);

  const auto file = world.capture();
  const auto records = roce::pcap::parse(file);

  ASSERT_TRUE(records);
  ASSERT_EQ(records->size(), 1u);
  const auto frame = records->front().frame;
  const std::size_t headers = roce::kEthernetBytes + roce::kIpv4Bytes;
  ASSERT_EQ(frame.size(), headers + recording::TcpHeader::kBytes + 4);
  EXPECT_EQ(frame[roce::kEthernetBytes + 9], recording::kIpTcp);
  EXPECT_EQ(frame[roce::kEthernetBytes + 3], frame.size() - roce::kEthernetBytes);
  EXPECT_TRUE(recording::checksum_is_right(gid("10.0.0.1"), gid("10.0.0.2"), recording::kIpTcp,
                                           frame.subspan(headers)));
}

}  // namespace
}  // namespace anyrdma::sim
