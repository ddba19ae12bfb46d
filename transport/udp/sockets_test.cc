// Packets between sockets on loopback addresses, without an HCA.
#include "transport/udp/sockets.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "transport/realtime/testing/eventually.h"
#include "verbs/soft/icrc.h"

namespace anyrdma::transport::udp {
namespace {

using realtime::testing::eventually;
using verbs::soft::PacketPool;
using verbs::soft::PacketPtr;

std::uint16_t free_port() {
  const realtime::Descriptor fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in name{};
  name.sin_family = AF_INET;
  socklen_t length = sizeof name;
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name) != 0) return 0;
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&name), &length) != 0) return 0;
  return ntohs(name.sin_port);
}

ibv_gid gid(std::uint32_t address) {
  return soft::Address::ipv4(address).gid();
}

bool is(const ibv_gid& gid, std::uint32_t address) {
  return soft::Address::from_gid(gid) == soft::Address::ipv4(address);
}

/// One host: counts what it gets, and keeps the last.
class Host : private station::Carrier::Receiver {
 public:
  Host(const char* address, std::uint16_t port, std::size_t queue_max = 8192)
      : sockets(UdpSockets::create({.addresses = local_addresses({address}).value(),
                                    .port = port,
                                    .network_namespace = {},
                                    .queue_max = queue_max},
                                   pool, *this)
                    .value()) {}

  PacketPtr make(std::uint32_t from, std::uint32_t to, std::uint16_t size = 64) {
    PacketPtr packet = pool.take();
    packet->source = gid(from);
    packet->destination = gid(to);
    packet->size = size;
    std::memset(packet->storage.data(), 7, size);
    return packet;
  }
  bool hears(std::size_t wanted) {
    return eventually([&] {
      (void)sockets->poll();
      return packets >= wanted;
    });
  }

  PacketPool pool;
  std::size_t packets = 0;
  std::size_t own_packets = 0;
  PacketPtr last;
  std::unique_ptr<UdpSockets> sockets;

 private:
  void on_packet(PacketPtr packet) override {
    ++packets;
    last = std::move(packet);
  }
  void on_own_packet(PacketPtr) override { ++own_packets; }
};

class UdpSocketsTest : public ::testing::Test {
 protected:
  static constexpr std::uint32_t kFirst = 0x7f080001;
  static constexpr std::uint32_t kSecond = 0x7f080002;
  const std::uint16_t port_ = free_port();
  Host a_{"127.8.0.1", port_};
  Host b_{"127.8.0.2", port_};
};

TEST_F(UdpSocketsTest, APacketArrivesAsItWasSent) {
  PacketPtr packet = a_.make(kFirst, kSecond, 4224);
  packet->hop_limit = 17;
  packet->traffic_class = 0x28;

  a_.sockets->send(std::move(packet));
  a_.sockets->transmit();

  ASSERT_TRUE(b_.hears(1));
  EXPECT_EQ(b_.last->size, 4224);
  EXPECT_EQ(b_.last->hop_limit, 17);
  EXPECT_EQ(b_.last->traffic_class, 0x28);
  EXPECT_EQ(b_.last->udp_source_port, port_);
  EXPECT_TRUE(is(b_.last->source, kFirst));
  EXPECT_TRUE(is(b_.last->destination, kSecond));
  EXPECT_TRUE(b_.last->icrc_valid);
  EXPECT_TRUE(roce::icrc_ok(*b_.last));
  // As the kernel really sent it: nothing had to be solved for.
  b_.last->ip_fields_hidden = false;
  EXPECT_TRUE(roce::icrc_ok(*b_.last));
}

TEST_F(UdpSocketsTest, APacketToOneselfNeedsNoSocket) {
  a_.sockets->send(a_.make(kFirst, kFirst));
  EXPECT_EQ(a_.own_packets, 1u);
  EXPECT_EQ(a_.sockets->queued(), 0u);
}

TEST_F(UdpSocketsTest, APacketFromAStrangersAddressIsLost) {
  a_.sockets->send(a_.make(kSecond, 0x7f080003));
  EXPECT_EQ(a_.sockets->dropped(), 1u);
  EXPECT_EQ(a_.sockets->queued(), 0u);
}

TEST_F(UdpSocketsTest, APacketThatTheSystemRefusesDoesNotHoldUpTheNext) {
  a_.sockets->send(a_.make(kFirst, 0xf0000001));  // class E: no route
  a_.sockets->send(a_.make(kFirst, kSecond));
  a_.sockets->transmit();
  EXPECT_TRUE(b_.hears(1));
  EXPECT_EQ(a_.sockets->dropped(), 1u);
  EXPECT_EQ(a_.sockets->queued(), 0u);
}

TEST_F(UdpSocketsTest, MoreThanTheQueueHoldsIsLost) {
  Host host("127.8.0.3", port_, 2);
  for (int i = 0; i < 3; ++i) host.sockets->send(host.make(0x7f080003, kSecond));
  EXPECT_EQ(host.sockets->queued(), 2u);
  EXPECT_EQ(host.sockets->dropped(), 1u);
  host.sockets->flush(std::chrono::seconds(10));
  EXPECT_EQ(host.sockets->queued(), 0u);
  EXPECT_TRUE(b_.hears(2));
}

TEST_F(UdpSocketsTest, WhatIsLongerThanAnyPacketIsDropped) {
  const realtime::Descriptor fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port_);
  to.sin_addr.s_addr = htonl(kSecond);
  const std::vector<std::uint8_t> bytes(verbs::soft::kPacketBytesMax + 1);
  const auto send = [&](std::size_t size) {
    return ::sendto(fd.get(), bytes.data(), size, 0, reinterpret_cast<const sockaddr*>(&to),
                    sizeof to) == static_cast<ssize_t>(size);
  };
  ASSERT_TRUE(send(bytes.size()));
  ASSERT_TRUE(send(0));
  ASSERT_TRUE(b_.hears(1));
  EXPECT_EQ(b_.packets, 1u);
  EXPECT_EQ(b_.last->size, 0);
  EXPECT_FALSE(roce::icrc_ok(*b_.last));
}

TEST_F(UdpSocketsTest, AGroupIsLeftWithTheLastJoin) {
  const ibv_gid group = gid(0xef080001);
  ASSERT_TRUE(b_.sockets->join(gid(kSecond), group));
  ASSERT_TRUE(b_.sockets->join(gid(kSecond), group));
  b_.sockets->leave(gid(kSecond), group);
  a_.sockets->send(a_.make(kFirst, 0xef080001));
  a_.sockets->transmit();
  ASSERT_TRUE(b_.hears(1));
  EXPECT_TRUE(is(b_.last->destination, 0xef080001));

  b_.sockets->leave(gid(kSecond), group);
  b_.sockets->leave(gid(kSecond), group);
  a_.sockets->send(a_.make(kFirst, 0xef080001));
  a_.sockets->send(a_.make(kFirst, kSecond));
  a_.sockets->transmit();
  ASSERT_TRUE(b_.hears(2));
  EXPECT_TRUE(is(b_.last->destination, kSecond));
}

TEST_F(UdpSocketsTest, OnlyGroupsCanBeJoinedAndOnlyFromOwnAddresses) {
  EXPECT_EQ(b_.sockets->join(gid(kFirst), gid(0xef080001)).error(),
            verbs::errno_code(EADDRNOTAVAIL));
  EXPECT_EQ(b_.sockets->join(gid(kSecond), gid(0x0a000001)).error(), verbs::errno_code(EINVAL));
}

TEST_F(UdpSocketsTest, ClosedTheyAreHarmless) {
  a_.sockets->close();
  a_.sockets->close();
  a_.sockets->send(a_.make(kFirst, kSecond));
  a_.sockets->transmit();
  EXPECT_FALSE(a_.sockets->poll());
  EXPECT_EQ(a_.sockets->join(gid(kFirst), gid(0xef080001)).error(),
            verbs::errno_code(EADDRNOTAVAIL));
  Host again("127.8.0.1", port_);
}

}  // namespace
}  // namespace anyrdma::transport::udp
