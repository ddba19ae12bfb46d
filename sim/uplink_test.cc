// Hosts whose programs are outside of the world.
#include "sim/uplink.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "sim/monitor.h"
#include "sim/testing/program.h"
#include "verbs/soft/icrc.h"
#include "verbs/soft/packet.h"
#include "verbs/soft/wire/headers.h"
#include "verbs/testing/errno_of.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using transport::soft::DeviceChange;
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
  void on_change(const DeviceChange& change) override { changes.push_back(change.kind); }
  void on_crash() override { ++crashes; }
  void on_kill() override {}

  std::vector<std::pair<std::int64_t, std::uint32_t>> packets;  ///< when, in us, and to which QP
  std::vector<std::pair<std::uint64_t, int>> answers;
  std::vector<DeviceChange::Kind> changes;
  int crashes = 0;
  bool intact = true;

 private:
  World& world_;
};

class Uplinks : public ::testing::Test {
 protected:
  Uplinks() {
    client_host.interfaces().set_uplink(0, &client);
    server_host.interfaces().set_uplink(0, &server);
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
    from.interfaces().send_from(0, *packet);
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
  ASSERT_TRUE(server_host.power().pause());
  send(client_host, server_host.address(), 0x20);
  world.run_for(1ms);
  EXPECT_THAT(server.packets, IsEmpty());
  ASSERT_TRUE(server_host.power().resume());
  EXPECT_THAT(server.packets, ElementsAre(Pair(1000, 0x20)));

  ASSERT_TRUE(server_host.power().crash());
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
  EXPECT_EQ(errno_of(server_host.devices().plug("eth0")), EEXIST);
}

// --- faults -------------------------------------------------------------------------------------

using Change = DeviceChange::Kind;

TEST_F(Uplinks, WhatHappensToTheirDeviceIsTold) {
  inject(
      "at 1ms: port-down client anyrdma0\n"
      "at 2ms: port-down client anyrdma0\n"
      "at 3ms: port-up client anyrdma0\n"
      "at 4ms: qp-error client#qp2 QP_REQ_ERR\n"
      "at 5ms: cq-overrun client#cq1\n"
      "at 6ms: remove client anyrdma0\n"
      "at 7ms: remove client anyrdma0\n"
      "at 8ms: port-down client anyrdma0");
  world.run_for(9ms);

  EXPECT_THAT(client.changes, ElementsAre(Change::kPortDown, Change::kPortUp, Change::kQpFailed,
                                          Change::kCqOverrun, Change::kRemoved));
  EXPECT_THAT(server.changes, IsEmpty());
  std::vector<std::uint32_t> observed;
  for (const FaultStatus& each : world.faults().status()) observed.push_back(each.observed);
  EXPECT_THAT(observed, ElementsAre(1, 0, 1, 1, 1, 1, 0, 0));
  EXPECT_THAT(world.trace().text(), HasSubstr("remove client anyrdma0"));
}

TEST_F(Uplinks, ANeighbourThatKnewAnAddressHearsThatItHasMoved) {
  client_host.neighbours().ask(0, NeighbourToken{5}, server_host.address(), 2s);
  inject("at 1ms: fail-over server eth0");
  world.run_for(2ms);

  EXPECT_THAT(server.changes, ElementsAre(Change::kMoved));
  EXPECT_THAT(client.changes, ElementsAre(Change::kNeighbourMoved));
}

TEST_F(Uplinks, DevicesReturnAndAddressesChange) {
  inject(
      "at 1ms: remove client anyrdma0\n"
      "at 2ms: return client anyrdma0 new-guid\n"
      "at 3ms: return client anyrdma0\n"
      "at 4ms: add-address client eth0 10.0.0.9/24\n"
      "at 5ms: drop-address client eth0 10.0.0.9");
  world.run_for(6ms);

  EXPECT_THAT(client.changes, ElementsAre(Change::kRemoved, Change::kReturned,
                                          Change::kAddressAdded, Change::kAddressDropped));
  EXPECT_TRUE(client_host.devices().has("anyrdma0"));
  std::vector<std::uint32_t> observed;
  for (const FaultStatus& each : world.faults().status()) observed.push_back(each.observed);
  EXPECT_THAT(observed, ElementsAre(1, 1, 0, 1, 1));
}

TEST_F(Uplinks, WhoOpensADeviceLaterAsksForItsChanges) {
  ASSERT_TRUE(client_host.devices().remove("anyrdma0"));
  ASSERT_TRUE(client_host.devices().bring_back("anyrdma0", true));
  ASSERT_TRUE(client_host.interfaces().add_address("eth0", "10.0.0.9/24"));
  fault::Question opened{.kind = fault::Question::Kind::kOpened};
  (void)client_host.processes().advise("rping[2]", opened);
  EXPECT_EQ(opened.error, 0);
  EXPECT_EQ(opened.removed, 0u);
  ASSERT_EQ(opened.changes, 2u);

  fault::Question first{.kind = fault::Question::Kind::kChange, .id = 0};
  (void)client_host.processes().advise("rping[2]", first);
  EXPECT_EQ(static_cast<Change>(first.change.kind), Change::kReturned);
  EXPECT_TRUE(first.change.new_guid);
  fault::Question second{.kind = fault::Question::Kind::kChange, .id = 1};
  (void)client_host.processes().advise("rping[2]", second);
  EXPECT_EQ(static_cast<Change>(second.change.kind), Change::kAddressAdded);
  EXPECT_EQ(second.change.bits, 120);
  EXPECT_EQ(second.change.address[15], 9);
  fault::Question none{.kind = fault::Question::Kind::kChange, .id = 2};
  (void)client_host.processes().advise("rping[2]", none);
  EXPECT_EQ(none.change.kind, 0);
}

TEST_F(Uplinks, ARouteFailsWhenAProcessAsks) {
  inject("on client routing 2: unrouted EIO");
  EXPECT_TRUE(world.faults().oversight().routes);
  const auto error_of_route = [this] {
    fault::Question question{.kind = fault::Question::Kind::kRoute};
    (void)client_host.processes().advise("rping[2]", question);
    return question.error;
  };

  EXPECT_EQ(error_of_route(), 0);
  EXPECT_EQ(error_of_route(), EIO);
  EXPECT_EQ(error_of_route(), 0);
}

TEST_F(Uplinks, APortThatFlapsGoesDownAndUp) {
  inject("at 1ms: flap client anyrdma0 2ms every 5ms for 10ms");
  world.run_for(2ms);
  EXPECT_THAT(client.changes, ElementsAre(Change::kPortDown));
  world.run_for(20ms);

  EXPECT_THAT(client.changes,
              ElementsAre(Change::kPortDown, Change::kPortUp, Change::kPortDown, Change::kPortUp));
  EXPECT_EQ(world.faults().status().front().fired, 1u);
  EXPECT_EQ(world.faults().status().front().observed, 1u);
}

TEST_F(Uplinks, WhatIsNotThereIsRefused) {
  for (const char* const line :
       {"at 1ms: return client anyrdma1", "at 1ms: add-address client eth1 10.0.0.9/24",
        "at 1ms: flap client anyrdma0/2 1ms every 2ms", "on client/eth1->* packet 1: lose",
        "at 1ms: slow-rail client eth1 1ms", "at 1ms: remove client anyrdma1"}) {
    EXPECT_FALSE(world.faults().inject(FaultPlan::parse(line).value())) << line;
  }
}

int error_of_call(Host& host, std::string_view call) {
  fault::Question question{.kind = fault::Question::Kind::kCall};
  question.set_word(call);
  EXPECT_EQ(host.processes().advise("rping[2]", question), Duration::zero());
  return question.error;
}

TEST_F(Uplinks, CallsOfAllProcessesOfAHostAreCountedTogether) {
  inject("on client call create_qp 2: fail ENOMEM");
  EXPECT_TRUE(world.faults().oversight().gate);
  EXPECT_FALSE(world.faults().oversight().events);

  EXPECT_EQ(error_of_call(client_host, "create_qp"), 0);
  EXPECT_EQ(error_of_call(server_host, "create_qp"), 0);
  EXPECT_EQ(error_of_call(client_host, "create_cq"), 0);
  EXPECT_EQ(error_of_call(client_host, "create_qp"), ENOMEM);
  EXPECT_EQ(error_of_call(client_host, "create_qp"), 0);
}

TEST_F(Uplinks, WhatAProcessSaysMakesTheWorldAct) {
  inject(
      "on client state CONNECT 1: cut client->server\n"
      "on client#2 queued ADDR_CHANGE 1: remove server anyrdma0\n"
      "on server request 1: reject 28 6e6f\n"
      "at 0s: slow-consumer client 5ms");
  const fault::Oversight oversight = world.faults().oversight();
  EXPECT_TRUE(oversight.calls && oversight.events && oversight.requests && oversight.takes);
  using Kind = fault::Question::Kind;
  using recording::EntryKind;
  client_host.processes().hear("rping[2]",
                               recording::entry_of<EntryKind::kIdState>(0u, 1u, "RDMA_CM_CONNECT"));
  client_host.processes().hear(
      "rping[2]", recording::entry_of<EntryKind::kQueued>(
                      0u, 2u, 0u, std::uint64_t{RDMA_CM_EVENT_ADDR_CHANGE}, 0, 0u, ""));
  fault::Question request{.kind = Kind::kRequest};
  (void)server_host.processes().advise("rping[2]", request);
  world.run_for(1ms);
  fault::Question take{.kind = Kind::kTake};

  EXPECT_EQ(client_host.processes().advise("rping[2]", take), Duration(5ms));
  EXPECT_TRUE(request.refused);
  EXPECT_EQ(request.reason, 28);
  EXPECT_EQ(request.size, 2);
  EXPECT_THAT(server.changes, ElementsAre(Change::kRemoved));
  EXPECT_TRUE(world.path(client_host, server_host).down);
  client_host.processes().forget("rping[2]");
}

TEST_F(Uplinks, WhoOpensADeviceLearnsWhatHasHappenedToIt) {
  fault::Question before{.kind = fault::Question::Kind::kOpened};
  (void)client_host.processes().advise("rping[2]", before);
  EXPECT_EQ(before.error, 0);
  EXPECT_EQ(before.ports_down, 0u);

  ASSERT_TRUE(client_host.devices().set_port("anyrdma0", false));
  fault::Question down{.kind = fault::Question::Kind::kOpened};
  (void)client_host.processes().advise("rping[2]", down);
  EXPECT_EQ(down.ports_down, 1u);

  ASSERT_TRUE(client_host.devices().remove("anyrdma0"));
  fault::Question gone{.kind = fault::Question::Kind::kOpened};
  (void)client_host.processes().advise("rping[2]", gone);
  EXPECT_EQ(gone.error, ENODEV);
  EXPECT_EQ(gone.removed, 1u);
}

TEST_F(Uplinks, WorkEndsInErrorAndIsObservedWhenItIsHandedOver) {
  inject("on client completion SEND 1: complete RETRY_EXC_ERR");
  fault::Question work{.kind = fault::Question::Kind::kWork,
                       .work = {.qp = 1, .qp_num = 0x11, .wr_id = 7}};
  (void)client_host.processes().advise("rping[2]", work);
  EXPECT_EQ(work.status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(world.faults().status().front().observed, 0u);

  fault::Question failure{.kind = fault::Question::Kind::kFailure,
                          .work = {.qp_num = 0x11, .wr_id = 7},
                          .status = IBV_WC_RETRY_EXC_ERR};
  (void)client_host.processes().advise("rping[2]", failure);

  EXPECT_EQ(world.faults().status().front().observed, 1u);
}

// --- neighbours ---------------------------------------------------------------------------------

TEST_F(Uplinks, ANeighbourIsFoundAfterARoundTripAndThenKnown) {
  client_host.neighbours().ask(0, NeighbourToken{5}, server_host.address(), 2s);
  EXPECT_THAT(client.answers, IsEmpty());
  world.run_for(4us);
  EXPECT_THAT(client.answers, ElementsAre(Pair(5, 0)));

  client_host.neighbours().ask(0, NeighbourToken{6}, server_host.address(), 2s);
  EXPECT_EQ(client.answers.back(), std::pair(std::uint64_t{6}, 0));
}

TEST_F(Uplinks, ANeighbourThatIsNotThereIsNotFoundWithinItsTime) {
  client_host.neighbours().ask(0, NeighbourToken{5}, Address::ipv4(0x0a000063), 2s);
  world.run_for(1999ms);
  EXPECT_THAT(client.answers, IsEmpty());
  world.run_for(1ms);
  EXPECT_THAT(client.answers, ElementsAre(Pair(5, ETIMEDOUT)));
}

TEST_F(Uplinks, ThePlansErrorIsTheAnswer) {
  inject("on client resolving 1: unresolved EHOSTUNREACH");

  client_host.neighbours().ask(0, NeighbourToken{5}, server_host.address(), 2s);

  EXPECT_THAT(client.answers, ElementsAre(Pair(5, EHOSTUNREACH)));
}

TEST_F(Uplinks, NothingIsAnsweredOnceTheHostIsOff) {
  client_host.neighbours().ask(0, NeighbourToken{5}, server_host.address(), 2s);
  ASSERT_TRUE(client_host.power().crash());
  client_host.neighbours().ask(0, NeighbourToken{6}, server_host.address(), 2s);
  world.run_for(3s);

  EXPECT_THAT(client.answers, IsEmpty());
}

}  // namespace
}  // namespace anyrdma::sim::testing
