// What an agent writes is what Linux wrote: the captured exchanges played again, byte for byte.
#include <gtest/gtest.h>

#include "transport/ibcm/testing/pair.h"
#include "transport/ibcm/wire/captured_frames.h"
#include "transport/ibcm/wire/rep.h"
#include "transport/ibcm/wire/req.h"

namespace anyrdma::ibcm {
namespace {

using testing::Pair;
using testing::TestRandom;
using wire::Req;
using wire::testing::mad_of;

/// An agent that gives one comm id only.
struct OneId {
  explicit OneId(std::uint32_t id, std::uint64_t guid)
      : agent(Agent::create({.ca_guid = Guid{guid}, .id_mask = 0, .id_tag = id}, random)) {}
  TestRandom random{1};
  std::unique_ptr<Agent> agent;

  /// The next MAD it wants to send; upcalls are skipped, requests taken.
  std::array<std::uint8_t, kMadBytes> next_mad() {
    while (const Action* action = agent->next_action()) {
      const Action taken = *action;
      agent->pop_action();
      if (const auto* mad = std::get_if<SendMad>(&taken)) return mad->mad;
      if (const auto* upcall = std::get_if<Upcall>(&taken))
        if (upcall->kind == UpcallKind::kReqReceived) agent->request_handled(upcall->id, true);
    }
    return {};
  }
};

constexpr CommId kClientId{0x47332d59};
constexpr CommId kServerId{0x0f8e0fca};
constexpr Instant kNow{};

Path path_between(std::uint8_t source, std::uint8_t destination) {
  Path path;
  path.source = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 9, 0, source};
  path.destination = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 9, 0, destination};
  path.mtu = 3;
  return path;
}

/// What the user of the capture asked for.
ReqParameters captured_request(const Req& req) {
  ReqParameters parameters;
  parameters.service_id = ServiceId{0x01061e6e};
  parameters.path = path_between(2, 1);
  parameters.path.flow_label = (0x957eu * 31 + 7790) & 0xfffff;  // the ports of the connection
  parameters.qpn = Qpn{0x12};
  parameters.starting_psn = Psn(0xe6ce51);
  parameters.responder_resources = 3;
  parameters.initiator_depth = 4;
  parameters.retry_count = 6;
  parameters.rnr_retry_count = 5;
  parameters.private_data = req.private_data;
  return parameters;
}

RepParameters captured_reply(const wire::Rep& rep) {
  RepParameters parameters;
  parameters.qpn = Qpn{0x11};
  parameters.starting_psn = Psn(0x34cdbf);
  parameters.responder_resources = 2;
  parameters.initiator_depth = 1;
  parameters.rnr_retry_count = 0;
  parameters.private_data = rep.private_data;
  return parameters;
}

TEST(AgentWire, PlaysTheCapturedConnectionByteForByte) {
  OneId client(value(kClientId), 0x505400fffe000002);
  OneId server(value(kServerId), 0x505400fffe000001);
  server.agent->listen(ServiceId{0x01061e6e});
  const auto req = mad_of(wire::testing::kReqFrame);
  const auto rep = mad_of(wire::testing::kRepFrame);

  ASSERT_TRUE(client.agent->connect(kNow, captured_request(Req::parse(req).value())));
  EXPECT_EQ(client.next_mad(), req);

  server.agent->on_mad(kNow, path_between(1, 2), req);
  EXPECT_EQ(server.next_mad(), decltype(req){});  // the user is asked
  ASSERT_TRUE(
      server.agent->send_rep(kNow, kServerId, captured_reply(wire::Rep::parse(rep).value())));
  EXPECT_EQ(server.next_mad(), rep);

  client.agent->on_mad(kNow, path_between(2, 1), rep);
  ASSERT_TRUE(client.agent->send_rtu(kNow, kClientId));
  EXPECT_EQ(client.next_mad(), mad_of(wire::testing::kRtuFrame));

  server.agent->on_mad(kNow, path_between(1, 2), mad_of(wire::testing::kRtuFrame));
  ASSERT_TRUE(client.agent->send_dreq(kNow, kClientId));
  EXPECT_EQ(client.next_mad(), mad_of(wire::testing::kDreqFrame));

  server.agent->on_mad(kNow, path_between(1, 2), mad_of(wire::testing::kDreqFrame));
  ASSERT_TRUE(server.agent->send_drep(kNow, kServerId));
  EXPECT_EQ(server.next_mad(), mad_of(wire::testing::kDrepFrame));
}

TEST(AgentWire, RejectsAnUnknownServiceAsCaptured) {
  OneId server(1, 0x505400fffe000001);
  Req req = Req::parse(mad_of(wire::testing::kReqFrame)).value();
  req.local_comm_id = CommId{0xa58960b4};
  req.transaction_id = 0x00000002b46089a5;
  req.private_data = {};
  std::array<std::uint8_t, kMadBytes> mad;
  req.serialize(mad);

  server.agent->on_mad(kNow, path_between(1, 2), mad);

  EXPECT_EQ(server.next_mad(), mad_of(wire::testing::kRejNoListenerFrame));
}

TEST(AgentWire, TheUsersRejectIsAsCaptured) {
  OneId server(0x0c8e0fca, 0x505400fffe000001);
  server.agent->listen(ServiceId{0x01061e6e});
  Req req = Req::parse(mad_of(wire::testing::kReqFrame)).value();
  req.local_comm_id = CommId{0x46332d59};
  req.transaction_id = 0x00000002592d3346;
  req.private_data = {};
  std::array<std::uint8_t, kMadBytes> mad;
  req.serialize(mad);
  const std::string_view words = "go away";

  server.agent->on_mad(kNow, path_between(1, 2), mad);
  (void)server.next_mad();
  ASSERT_TRUE(server.agent->send_rej(
      kNow, CommId{0x0c8e0fca}, 28,
      std::span(reinterpret_cast<const std::uint8_t*>(words.data()), words.size())));

  EXPECT_EQ(server.next_mad(), mad_of(wire::testing::kRejByUserFrame));
}

TEST(AgentWire, AKilledClientRejectsTheRepAsCaptured) {
  OneId client(0xa78960b4, 0x505400fffe000002);
  ASSERT_TRUE(client.agent->connect(kNow, captured_request(Req{.path_mtu = 3})));
  (void)client.next_mad();
  wire::Rep rep = wire::Rep::parse(mad_of(wire::testing::kRepFrame)).value();
  rep.local_comm_id = CommId{0x75e42c33};
  rep.remote_comm_id = CommId{0xa78960b4};
  rep.private_data = {};
  std::array<std::uint8_t, kMadBytes> mad;
  rep.serialize(mad);
  client.agent->on_mad(kNow, path_between(2, 1), mad);

  client.agent->destroy(kNow, CommId{0xa78960b4});

  EXPECT_EQ(client.next_mad(), mad_of(wire::testing::kRejByKilledFrame));
}

TEST(AgentWire, ThePeersParametersArriveAsThePeerWroteThem) {
  Pair pair;
  const std::array<std::uint8_t, 4> data{1, 2, 3, 4};
  ReqParameters request = pair.request();
  request.private_data = data;
  request.srq = 1;
  pair.client_id = pair.client.agent().connect(pair.now, request).value();
  pair.settle();

  const auto& heard = pair.server.last(UpcallKind::kReqReceived);
  EXPECT_EQ(heard.upcall.service_id, Pair::kService);
  EXPECT_EQ(heard.upcall.req.qpn, request.qpn);
  EXPECT_EQ(heard.upcall.req.starting_psn, request.starting_psn);
  EXPECT_EQ(heard.upcall.req.responder_resources, 3);
  EXPECT_EQ(heard.upcall.req.initiator_depth, 5);
  EXPECT_EQ(heard.upcall.req.srq, 1);
  EXPECT_EQ(heard.upcall.req.path.source, request.path.destination);
  EXPECT_EQ(heard.upcall.req.path.destination, request.path.source);
  EXPECT_EQ(heard.upcall.req.path.mtu, 3);
  EXPECT_EQ(heard.upcall.req.path.packet_lifetime, 18);
  ASSERT_EQ(heard.data.size(), 92u);
  EXPECT_EQ(heard.data[3], 4);
  EXPECT_EQ(heard.data[4], 0);

  pair.accept();
  EXPECT_EQ(pair.client.last(UpcallKind::kRepReceived).data.size(), 196u);
  EXPECT_EQ(pair.client.last(UpcallKind::kRepReceived).upcall.rep.responder_resources, 1);
  EXPECT_EQ(pair.client.last(UpcallKind::kRepReceived).upcall.rep.initiator_depth, 2);
}

TEST(AgentWire, BothSidesKnowWhatTheirQpsNeed) {
  Pair pair;
  pair.connected(0x12, 0x11);

  const ConnectionInfo client = pair.client.agent().info(pair.client_id).value();
  const ConnectionInfo server = pair.server.agent().info(pair.server_id).value();

  EXPECT_EQ(client.remote_qpn, Qpn{0x11});
  EXPECT_EQ(server.remote_qpn, Qpn{0x12});
  EXPECT_EQ(client.local_psn, server.remote_psn);
  EXPECT_EQ(server.local_psn, client.remote_psn);
  // The server's numbers win (subtle behaviour 5).
  EXPECT_EQ(server.responder_resources, 1);
  EXPECT_EQ(server.initiator_depth, 2);
  EXPECT_EQ(client.responder_resources, 2);
  EXPECT_EQ(client.initiator_depth, 1);
  EXPECT_EQ(client.ack_timeout, 19);
  EXPECT_EQ(server.ack_timeout, 19);
  EXPECT_EQ(client.path_mtu, 3);
  EXPECT_EQ(server.path_mtu, 3);
}

TEST(AgentWire, RefusesDataThatDoesNotFitAndSendsNothing) {
  Pair pair;
  const std::vector<std::uint8_t> data(197);
  ReqParameters request = pair.request();
  request.private_data = std::span(data).first(93);
  EXPECT_EQ(pair.client.agent().connect(pair.now, request).error().value(), EINVAL);

  pair.connect();
  const CommId id = pair.server.last(UpcallKind::kReqReceived).id;
  RepParameters reply = Pair::reply();
  reply.private_data = data;
  EXPECT_EQ(pair.server.agent().send_rep(pair.now, id, reply).error().value(), EINVAL);
  EXPECT_EQ(
      pair.server.agent().send_rej(pair.now, id, 28, std::span(data).first(149)).error().value(),
      EINVAL);
  pair.settle();

  EXPECT_EQ(pair.sent.size(), 1u);
  EXPECT_EQ(pair.server.state(id), State::kMraReqSent);
}

TEST(AgentWire, RefusesARequestThatCannotBeWritten) {
  Pair pair;
  const auto error_of = [&pair](void (*spoil)(ReqParameters&)) {
    ReqParameters request = pair.request();
    spoil(request);
    return pair.client.agent().connect(pair.now, request).error().value();
  };

  EXPECT_EQ(error_of([](ReqParameters& r) { r.path.mtu = 0; }), EINVAL);
  EXPECT_EQ(error_of([](ReqParameters& r) { r.path.mtu = 6; }), EINVAL);
  EXPECT_EQ(error_of([](ReqParameters& r) { r.path.packet_lifetime = 31; }), EINVAL);
  EXPECT_EQ(error_of([](ReqParameters& r) { r.local_ca_ack_delay = 32; }), EINVAL);
  EXPECT_EQ(error_of([](ReqParameters& r) { r.transport_service = 2; }), EINVAL);
  EXPECT_EQ(pair.client.agent().next_action(), nullptr);
}

TEST(AgentWire, IdsCarryTheTagAndRunOutOnlyWhenAllAreUsed) {
  TestRandom random(3);
  const auto agent = Agent::create({.id_mask = 0x3, .id_tag = 0xab00}, random);
  ReqParameters request;
  request.path.mtu = 3;

  std::vector<CommId> ids;
  for (int i = 0; i < 4; ++i) {
    ids.push_back(agent->connect(kNow, request).value());
    EXPECT_EQ(value(ids.back()) & 0xfffffffcu, 0xab00u);
  }
  EXPECT_EQ(agent->connect(kNow, request).error().value(), ENOMEM);
  agent->destroy(kNow, ids[2]);

  EXPECT_EQ(agent->connect(kNow, request).value(), ids[2]);
}

}  // namespace
}  // namespace anyrdma::ibcm
