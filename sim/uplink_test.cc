// Hosts whose programs are outside of the world.
#include "sim/uplink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "sim/testing/program.h"
#include "verbs/soft/packet.h"
#include "verbs/soft/wire/headers.h"
#include "verbs/soft/wire/icrc.h"
#include "verbs/testing/errno_of.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using transport::soft::NeighbourToken;
using verbs::soft::Packet;
using verbs::soft::PacketPtr;
using verbs::testing::errno_of;

/// Keeps what it is told; packets are told apart by their queue pair.
class Recorder final : public Uplink {
 public:
  explicit Recorder(World& world) : world_(world) {}

  void on_packet(const Packet& packet) override {
    const auto bth = roce::Bth::parse(packet.payload().first<roce::Bth::kBytes>());
    packets.emplace_back(world_.now().time_since_epoch() / 1us, value(bth.destination));
    intact = !packet.icrc_valid || roce::icrc_ok(packet);
  }
  void on_neighbour(NeighbourToken token, int error) override {
    answers.emplace_back(static_cast<std::uint64_t>(token), error);
  }
  void on_crash() override { ++crashes; }

  std::vector<std::pair<std::int64_t, std::uint32_t>> packets;  ///< when, in us, and to which QP
  std::vector<std::pair<std::uint64_t, int>> answers;
  int crashes = 0;
  bool intact = true;

 private:
  World& world_;
};

class Uplinks : public ::testing::Test {
 protected:
  Uplinks() {
    client_host.set_uplink(0, &client);
    server_host.set_uplink(0, &server);
  }
  Host& add(const char* name, const char* address) {
    return world.add_host(name,
                          HostOptions{.interfaces = {{.addresses = {address}, .rdma = false}}});
  }
  void send(Host& from, const Address& to, std::uint32_t qpn) {
    PacketPtr packet = pool.take();
    packet->source = from.address().gid();
    packet->destination = to.gid();
    packet->size = 64;
    std::memset(packet->storage.data(), 0, packet->size);
    roce::Bth bth;
    bth.opcode = roce::kUdSendOnly;
    bth.destination = wire::Qpn{qpn};
    bth.serialize(std::span(packet->storage).first<roce::Bth::kBytes>());
    from.send_from(0, *packet);
  }
  void inject(std::string_view plan) {
    ASSERT_TRUE(world.faults().inject(FaultPlan::parse(plan).value()));
  }

  verbs::soft::PacketPool pool;
  World world{1, {.capture = true}};
  Host& client_host = add("client", "10.0.0.1");
  Host& server_host = add("server", "10.0.0.2");
  Recorder client{world};
  Recorder server{world};
};

// --- packets ------------------------------------------------------------------------------------

TEST_F(Uplinks, APacketTakesTheLinksTimeAndIsInTraceAndCapture) {
  world.set_path(client_host, server_host, {.latency = 7us});
  const std::size_t empty = world.capture().size();
  send(client_host, server_host.address(), 0x20);
  EXPECT_THAT(server.packets, IsEmpty());

  world.run_for(1ms);

  EXPECT_THAT(server.packets, ElementsAre(Pair(7, 0x20)));
  EXPECT_THAT(world.trace().text(), HasSubstr("client -> server"));
  EXPECT_GT(world.capture().size(), empty + 64);
  EXPECT_THAT(client.packets, IsEmpty());
}

TEST_F(Uplinks, FaultsAndCutsMeetItsPackets) {
  inject("on client->server packet 1: lose\non client->server packet 2: corrupt");
  send(client_host, server_host.address(), 0x20);
  send(client_host, server_host.address(), 0x21);
  world.run_for(1ms);
  EXPECT_THAT(server.packets, ElementsAre(Pair(2, 0x21)));
  EXPECT_FALSE(server.intact);

  world.set_link(client_host, server_host, {.down = true});
  send(client_host, server_host.address(), 0x22);
  world.run_for(1ms);

  EXPECT_EQ(server.packets.size(), 1u);
  EXPECT_THAT(world.trace().text(), HasSubstr("link down"));
}

TEST_F(Uplinks, APausedHostHearsLaterAndOneThatIsOffNeverNorDoesItSpeak) {
  ASSERT_TRUE(server_host.pause());
  send(client_host, server_host.address(), 0x20);
  world.run_for(1ms);
  EXPECT_THAT(server.packets, IsEmpty());
  ASSERT_TRUE(server_host.resume());
  EXPECT_THAT(server.packets, ElementsAre(Pair(1000, 0x20)));

  ASSERT_TRUE(server_host.crash());
  send(client_host, server_host.address(), 0x21);
  send(server_host, client_host.address(), 0x22);
  world.run_for(1ms);

  EXPECT_EQ(server.crashes, 1);
  EXPECT_EQ(server.packets.size(), 1u);
  EXPECT_THAT(client.packets, IsEmpty());
}

TEST_F(Uplinks, AGroupIsAllOthers) {
  send(client_host, Address::ipv4(0xe0000101), value(wire::kMulticastQpn));
  world.run_for(1ms);

  EXPECT_EQ(server.packets.size(), 1u);
  EXPECT_THAT(client.packets, IsEmpty());
}

TEST_F(Uplinks, AFibersPacketsReachThem) {
  Host& inside = world.add_host("inside", {"10.0.0.3"});
  Program program(inside);
  const auto id = program.resolve(server_host.address(kPort));
  rdma_conn_param param = parameters("");
  param.qp_num = 0x77;
  id->connect(&param).value();
  world.run_for(1ms);

  EXPECT_THAT(server.packets, ElementsAre(Pair(6, value(wire::kGsiQpn))));
}

TEST_F(Uplinks, NoDeviceIsPluggedInWhereOneIs) {
  EXPECT_EQ(errno_of(server_host.plug_device("eth0")), EEXIST);
}

// --- neighbours ---------------------------------------------------------------------------------

TEST_F(Uplinks, ANeighbourIsFoundAfterARoundTripAndThenKnown) {
  client_host.ask_neighbour(0, NeighbourToken{5}, server_host.address(), 2s);
  EXPECT_THAT(client.answers, IsEmpty());
  world.run_for(4us);
  EXPECT_THAT(client.answers, ElementsAre(Pair(5, 0)));

  client_host.ask_neighbour(0, NeighbourToken{6}, server_host.address(), 2s);
  EXPECT_EQ(client.answers.back(), std::pair(std::uint64_t{6}, 0));
}

TEST_F(Uplinks, ANeighbourThatIsNotThereIsNotFoundWithinItsTime) {
  client_host.ask_neighbour(0, NeighbourToken{5}, Address::ipv4(0x0a000063), 2s);
  world.run_for(1999ms);
  EXPECT_THAT(client.answers, IsEmpty());
  world.run_for(1ms);
  EXPECT_THAT(client.answers, ElementsAre(Pair(5, ETIMEDOUT)));
}

TEST_F(Uplinks, ThePlansErrorIsTheAnswer) {
  inject("on client resolving 1: unresolved EHOSTUNREACH");

  client_host.ask_neighbour(0, NeighbourToken{5}, server_host.address(), 2s);

  EXPECT_THAT(client.answers, ElementsAre(Pair(5, EHOSTUNREACH)));
}

TEST_F(Uplinks, NothingIsAnsweredOnceTheHostIsOff) {
  client_host.ask_neighbour(0, NeighbourToken{5}, server_host.address(), 2s);
  ASSERT_TRUE(client_host.crash());
  client_host.ask_neighbour(0, NeighbourToken{6}, server_host.address(), 2s);
  world.run_for(3s);

  EXPECT_THAT(client.answers, IsEmpty());
}

}  // namespace
}  // namespace anyrdma::sim::testing
