// What an id may do in which state, as the kernel's cma.c and ucma.c decide it: by state, by the
// type of queue pair, by having a device and by having a CM id. States end to end, call by call:
// tests/semantics/state_matrix_test.cc.
#include <array>
#include <cerrno>

#include "transport/soft/state.h"
#include "transport/soft/testing/world.h"
#include "verbs/testing/errno_of.h"

namespace anyrdma::transport::soft::testing {
namespace {

using verbs::testing::errno_of;

using namespace std::chrono_literals;

class Standings : public World {
 protected:
  std::unique_ptr<Endpoint> bound(const Address& local, rdma_port_space space = RDMA_PS_TCP) {
    auto endpoint = a.endpoint(space);
    EXPECT_TRUE(endpoint->bind(Sockaddr(local).get()));
    return endpoint;
  }
  static int set(Endpoint& endpoint, int option, std::size_t size, std::uint8_t first = 1) {
    const std::array<std::uint8_t, 8> value{first};
    return errno_of(endpoint.set_option(RDMA_OPTION_ID, option, std::span(value).first(size)));
  }
  void TearDown() override {
    a.events.requests.clear();
    b.events.requests.clear();
  }
};

// --- events -------------------------------------------------------------------------------------

TEST(StateAfter, AFailedRouteMayBeAskedForAgain) {
  EXPECT_EQ(state_after(RDMA_CM_EVENT_ROUTE_ERROR, State::kRouteQuery), State::kAddrResolved)
      << "cma.c:cma_query_handler";
}

// cma.c:cma_ib_handler.
TEST(StateAfter, WhatAConnectionIsToldLeavesItAConnectionButForItsEnd) {
  for (const rdma_cm_event_type event :
       {RDMA_CM_EVENT_CONNECT_RESPONSE, RDMA_CM_EVENT_CONNECT_ERROR, RDMA_CM_EVENT_REJECTED,
        RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_UNREACHABLE}) {
    EXPECT_EQ(state_after(event, State::kConnect), State::kConnect) << event;
  }
  EXPECT_EQ(state_after(RDMA_CM_EVENT_DISCONNECTED, State::kConnect), State::kDisconnect);
}

TEST_F(Standings, AChangedNeighbourIsToldFromTheRouteToTheVeryEnd) {
  auto server = listener(b, b.address(0, kPort));
  auto endpoint = routed(a, b.address(0, kPort));
  const auto change = [this] {
    a.events.events.clear();
    a.network.neighbour_links[{0, b.address().ip}] = LinkNumber{1};
    a.transport->on_neighbour_changed(0, b.address());
    settle();
    return a.events.only(RDMA_CM_EVENT_UNREACHABLE).status;
  };
  EXPECT_EQ(change(), -ETIMEDOUT);
  EXPECT_EQ(endpoint->state(), "RDMA_CM_ROUTE_RESOLVED");
  ASSERT_TRUE(endpoint->connect({.qp_num = 5}));
  settle();
  ASSERT_TRUE(b.events.requests.at(0)->accept({.qp_num = 6}));
  settle();
  ASSERT_TRUE(endpoint->establish());
  settle();
  EXPECT_EQ(change(), -ETIMEDOUT);
  EXPECT_EQ(endpoint->state(), "RDMA_CM_CONNECT");

  ASSERT_TRUE(b.events.requests.at(0)->disconnect());
  settle();

  EXPECT_EQ(endpoint->state(), "RDMA_CM_DISCONNECT");
  EXPECT_EQ(change(), -ETIMEDOUT) << "cma.c:cma_netevent_work_handler";
}

TEST_F(Standings, AGroupThatIsLostIsToldAndStaysToBeLeft) {
  constexpr MembershipId kGroup{1};
  const Address group = Address::ipv4(0xef010203);
  auto endpoint = bound(a.address(0, kPort), RDMA_PS_UDP);
  ASSERT_TRUE(endpoint->join_multicast(Sockaddr(group).get(), kGroup, JoinState::kFullMember));
  settle();
  a.events.events.clear();

  EXPECT_TRUE(a.transport->on_group_lost(group));
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_MULTICAST_ERROR).status, -ENETRESET)
      << "cma.c:cma_ib_mc_handler";
  EXPECT_EQ(errno_of(endpoint->leave_multicast(kGroup)), 0);
}

// --- a listener ---------------------------------------------------------------------------------

TEST_F(Standings, AListenerOnADeviceHasACmIdThatHasNothingToDisconnect) {
  auto endpoint = listener(a, a.address(0, kPort));

  EXPECT_EQ(errno_of(endpoint->disconnect()), 0) << "cma.c:rdma_disconnect";
  EXPECT_EQ(errno_of(endpoint->reject(28, {})), EINVAL) << "cm.c:ib_send_cm_rej";
  EXPECT_EQ(errno_of(endpoint->notify(IBV_EVENT_COMM_EST)), EINVAL) << "cm.c:cm_establish";
  EXPECT_EQ(errno_of(endpoint->notify(IBV_EVENT_PATH_MIG)), EINVAL) << "cm.c:cm_migrate";
  EXPECT_EQ(endpoint->state(), "RDMA_CM_LISTEN");
}

TEST_F(Standings, AListenerOnEveryDeviceHasNone) {
  auto endpoint = listener(a, Address::ipv4(0, kPort));

  EXPECT_EQ(errno_of(endpoint->disconnect()), EINVAL);
  EXPECT_EQ(errno_of(endpoint->reject(28, {})), EINVAL);
}

TEST_F(Standings, AListenerForDatagramsMayHaveAQueuePairAndOneForConnectionsMayNot) {
  auto datagrams = listener(a, a.address(0, kPort), RDMA_PS_UDP);
  auto connections = listener(a, a.address(0, kPort));

  EXPECT_EQ(errno_of(datagrams->qp_transition(IBV_QPS_INIT)), 0) << "cma.c:rdma_init_qp_attr";
  EXPECT_EQ(errno_of(connections->qp_transition(IBV_QPS_INIT)), EINVAL) << "cm.c: LISTEN";
  EXPECT_EQ(errno_of(datagrams->disconnect()), 0);
}

TEST_F(Standings, WithoutADeviceNobodyHasAQueuePair) {
  auto endpoint = listener(a, Address::ipv4(0, kPort), RDMA_PS_UDP);

  EXPECT_EQ(errno_of(endpoint->qp_transition(IBV_QPS_INIT)), EINVAL);
}

// --- what binding has come to -------------------------------------------------------------------

TEST_F(Standings, AResolutionWhoseSourceIsNotOursLeavesAFreshId) {
  auto endpoint = a.endpoint();

  EXPECT_EQ(errno_of(endpoint->resolve_address(&Sockaddr(b.address()).get(),
                                               Sockaddr(b.address(0, kPort)).get(), 1s)),
            EADDRNOTAVAIL);

  EXPECT_EQ(endpoint->state(), "RDMA_CM_IDLE") << "cma.c:resolve_prepare_src";
  EXPECT_EQ(errno_of(endpoint->bind(Sockaddr(a.address()).get())), 0);
}

TEST_F(Standings, AResolutionThatFailsLaterLeavesABoundId) {
  auto endpoint = a.endpoint();

  EXPECT_EQ(errno_of(endpoint->resolve_address(&Sockaddr(a.address()).get(),
                                               Sockaddr(address_of(2, 7)).get(), 1s)),
            ENETUNREACH);

  EXPECT_EQ(endpoint->state(), "RDMA_CM_ADDR_BOUND");
  EXPECT_EQ(errno_of(endpoint->bind(Sockaddr(a.address()).get())), EINVAL);
}

TEST_F(Standings, AfterTheLastDeviceIdsAreMadeAndResolveInVain) {
  a.transport->remove_device(*a.hcas[0]);
  auto endpoint = a.endpoint();
  auto wildcard = listener(a, Address::ipv4(0, kPort));

  ASSERT_EQ(errno_of(endpoint->resolve_address(nullptr, Sockaddr(b.address(0, kPort)).get(), 1s)),
            0);
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_ADDR_ERROR).status, -ENODEV);
}

// --- the CM id's life ---------------------------------------------------------------------------

TEST_F(Standings, AnIdThatWasRejectedStaysInConnectAndAsksNoMore) {
  auto endpoint = routed(a, b.address(0, kPort));
  ASSERT_TRUE(endpoint->connect({}));
  settle();
  ASSERT_EQ(a.events.only(RDMA_CM_EVENT_REJECTED).status, 8) << "nobody listens";

  EXPECT_EQ(endpoint->state(), "RDMA_CM_CONNECT");
  EXPECT_EQ(errno_of(endpoint->connect({})), EINVAL);
  EXPECT_EQ(errno_of(endpoint->disconnect()), 0);
}

TEST_F(Standings, ADatagramServiceAsksOnce) {
  auto server = listener(b, b.address(0, kPort), RDMA_PS_UDP);
  auto endpoint = routed(a, b.address(0, kPort), RDMA_PS_UDP);
  ASSERT_TRUE(endpoint->connect({}));

  EXPECT_EQ(errno_of(endpoint->connect({})), EINVAL);
  settle();
}

TEST_F(Standings, ARequestIsMuteUntilItIsAccepted) {
  auto server = listener(b, b.address(0, kPort));
  auto endpoint = routed(a, b.address(0, kPort));
  ASSERT_TRUE(endpoint->connect({}));
  settle();
  b.events.events.clear();

  endpoint.reset();
  settle();

  EXPECT_TRUE(b.events.events.empty()) << "ucma.c:ucma_event_handler, before the uid is set";
  EXPECT_EQ(errno_of(b.events.requests[0]->accept({})), EINVAL);
}

// --- options ------------------------------------------------------------------------------------

TEST_F(Standings, EveryOptionHasItsSize) {
  auto endpoint = a.endpoint();
  EXPECT_EQ(set(*endpoint, RDMA_OPTION_ID_TOS, 1), 0);
  EXPECT_EQ(set(*endpoint, RDMA_OPTION_ID_TOS, 4), EINVAL);
  EXPECT_EQ(set(*endpoint, RDMA_OPTION_ID_TOS, 0), EINVAL);
  EXPECT_EQ(set(*endpoint, RDMA_OPTION_ID_REUSEADDR, 4), 0);
  EXPECT_EQ(set(*endpoint, RDMA_OPTION_ID_REUSEADDR, 1), EINVAL);
  EXPECT_EQ(set(*endpoint, RDMA_OPTION_ID_AFONLY, 4), 0);
  EXPECT_EQ(set(*endpoint, RDMA_OPTION_ID_AFONLY, 0), EINVAL);
  EXPECT_EQ(set(*endpoint, RDMA_OPTION_ID_ACK_TIMEOUT, 1), 0);
  EXPECT_EQ(set(*endpoint, RDMA_OPTION_ID_ACK_TIMEOUT, 2), EINVAL);
}

TEST_F(Standings, UnknownOptionsDoNotExist) {
  auto endpoint = a.endpoint();
  const std::uint8_t value = 1;
  EXPECT_EQ(set(*endpoint, 17, 1), ENOSYS);
  EXPECT_EQ(errno_of(endpoint->set_option(RDMA_OPTION_IB, 0, {&value, 1})), ENOSYS);
  EXPECT_EQ(errno_of(endpoint->set_option(2, 0, {&value, 1})), ENOSYS);
}

TEST_F(Standings, AnAckTimeoutIsForReliableConnections) {
  EXPECT_EQ(set(*a.endpoint(RDMA_PS_UDP), RDMA_OPTION_ID_ACK_TIMEOUT, 1), EINVAL);
  EXPECT_EQ(set(*a.endpoint(RDMA_PS_IB, IBV_QPT_UC), RDMA_OPTION_ID_ACK_TIMEOUT, 1), EINVAL);
  EXPECT_EQ(set(*a.endpoint(RDMA_PS_IB, IBV_QPT_RC), RDMA_OPTION_ID_ACK_TIMEOUT, 1), 0);
}

TEST_F(Standings, ReuseIsSetLateButNotOnAListenerAndClearedEarlyOnly) {
  auto endpoint = bound(a.address(0, kPort));
  EXPECT_EQ(set(*endpoint, RDMA_OPTION_ID_REUSEADDR, 4), 0);
  EXPECT_EQ(set(*endpoint, RDMA_OPTION_ID_REUSEADDR, 4, 0), EINVAL);
  ASSERT_TRUE(endpoint->listen(1));
  EXPECT_EQ(set(*endpoint, RDMA_OPTION_ID_REUSEADDR, 4), EINVAL);
  EXPECT_EQ(set(*endpoint, RDMA_OPTION_ID_AFONLY, 4), EINVAL);
  EXPECT_EQ(set(*endpoint, RDMA_OPTION_ID_TOS, 1), 0);
}

// --- the backlog --------------------------------------------------------------------------------

class Backlog : public Standings {
 protected:
  /// One more asks; whether the listener heard of it.
  bool asks() {
    clients_.push_back(routed(a, b.address(0, kPort)));
    const std::size_t before = b.events.requests.size();
    EXPECT_TRUE(clients_.back()->connect({.qp_num = ++qpn_}));
    settle();
    return b.events.requests.size() == before + 1;
  }
  std::unique_ptr<Endpoint> listener_with(int backlog) {
    auto endpoint = b.endpoint();
    EXPECT_TRUE(endpoint->bind(Sockaddr(b.address(0, kPort)).get()));
    EXPECT_TRUE(endpoint->listen(backlog));
    return endpoint;
  }
  void TearDown() override {
    clients_.clear();
    Standings::TearDown();
  }
  std::vector<std::unique_ptr<Endpoint>> clients_;
  std::uint32_t qpn_ = 100;
};

TEST_F(Backlog, CountsTheRequestsThatWereNotFetched) {
  auto server = listener_with(2);
  EXPECT_TRUE(asks());
  EXPECT_TRUE(asks());
  EXPECT_FALSE(asks());
  EXPECT_EQ(a.trace.sent(kReq), 3);
  EXPECT_EQ(b.trace.sent(kRej), 0) << "dropped in silence";

  server->on_request_fetched();

  EXPECT_TRUE(asks());
  EXPECT_FALSE(asks());
}

TEST_F(Backlog, IsSetAnewByAListenThatIsRefused) {
  auto server = listener_with(1);
  EXPECT_TRUE(asks());
  EXPECT_FALSE(asks());

  EXPECT_EQ(errno_of(server->listen(1)), EINVAL);

  EXPECT_TRUE(asks()) << "ucma.c:ucma_listen";
  EXPECT_FALSE(asks());
}

class BacklogDefault : public Backlog, public ::testing::WithParamInterface<int> {};

TEST_P(BacklogDefault, Is1024) {
  b.events.room = 2000;
  auto server = listener_with(GetParam());
  for (int i = 0; i < 1024; ++i) ASSERT_TRUE(asks()) << i;

  EXPECT_FALSE(asks());
}

INSTANTIATE_TEST_SUITE_P(Values, BacklogDefault, ::testing::Values(0, -1, 1025));

// --- the type of queue pair ---------------------------------------------------------------------

// Seen on Linux 6.1: RTR 0x101181, RTS 0x10001.
TEST_F(Standings, AnUnreliableConnectionHasNothingToRepeatOrToRead) {
  auto server = b.endpoint(RDMA_PS_IB, IBV_QPT_UC);
  ASSERT_TRUE(server->bind(Sockaddr(b.address(0, kPort)).get()));
  ASSERT_TRUE(server->listen(8));
  auto endpoint = a.endpoint(RDMA_PS_IB, IBV_QPT_UC);
  route(a, *endpoint, b.address(0, kPort));
  ASSERT_TRUE(endpoint->connect({.qp_num = 5, .qp_type = IBV_QPT_UC}));
  settle();
  Endpoint& request = *b.events.requests.at(0);

  const QpTransition ready = request.qp_transition(IBV_QPS_RTR).value();
  const QpTransition sending = request.qp_transition(IBV_QPS_RTS).value();

  EXPECT_EQ(ready.mask, 0x101181);
  EXPECT_EQ(sending.mask, 0x10001);
}

TEST_F(Standings, WhetherAPeerSharesAReceiveQueueIsYesOrNo) {
  auto server = listener(b, b.address(0, kPort));
  auto endpoint = routed(a, b.address(0, kPort));
  ASSERT_TRUE(endpoint->connect({.srq = 4, .qp_num = 5}));
  settle();
  EXPECT_EQ(b.events.events.at(0).conn.srq, 1) << "cma.c:cma_connect_ib";

  ASSERT_TRUE(b.events.requests[0]->accept({.srq = 4, .qp_num = 6}));
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_CONNECT_RESPONSE).conn.srq, 1) << "cma.c:cma_accept_ib";
}

// --- paths --------------------------------------------------------------------------------------

TEST_F(Standings, ARequestKnowsThePathItCameBy) {
  auto server = listener(b, b.address(0, kPort));
  auto endpoint = routed(a, b.address(0, kPort));
  ASSERT_TRUE(endpoint->connect({.qp_num = 5}));
  settle();

  const ibv_sa_path_rec* there = endpoint->path();
  const ibv_sa_path_rec* back = b.events.requests.at(0)->path();

  ASSERT_NE(back, nullptr);
  EXPECT_EQ(back->mtu, there->mtu);
  EXPECT_EQ(back->packet_life_time, there->packet_life_time);
  EXPECT_NE(there->flow_label, 0u);
  EXPECT_EQ(back->flow_label, there->flow_label) << "cm.c:cm_format_paths_from_req";
  EXPECT_EQ(there->hop_limit, 64);
  EXPECT_EQ(back->hop_limit, 64);
  EXPECT_EQ(back->preference, 43) << "L/ucma_convert_path: the record's flags";
}

TEST_F(Standings, ADatagramServicesRequestHasNoPath) {
  auto server = listener(b, b.address(0, kPort), RDMA_PS_UDP);
  auto endpoint = routed(a, b.address(0, kPort), RDMA_PS_UDP);
  ASSERT_TRUE(endpoint->connect({.qp_num = 5}));
  settle();

  EXPECT_EQ(b.events.requests.at(0)->path(), nullptr) << "cma.c:cma_ib_new_udp_id";
}

// Seen on Linux 6.1, which keeps what does not fit where it is not sent.
TEST_F(Standings, AnAckTimeoutThatNoMessageCanCarryIsCutWhereItIsSent) {
  auto server = listener(b, b.address(0, kPort));
  auto endpoint = a.endpoint();
  ASSERT_EQ(set(*endpoint, RDMA_OPTION_ID_ACK_TIMEOUT, 1, 40), 0);
  route(a, *endpoint, b.address(0, kPort));
  EXPECT_EQ(endpoint->path()->packet_life_time, 7) << "39 in five bits";

  ASSERT_TRUE(endpoint->connect({.qp_num = 5}));
  settle();
  ASSERT_EQ(b.events.requests.size(), 1u);
  EXPECT_EQ(b.events.requests[0]->path()->packet_life_time, 30);
  ASSERT_TRUE(b.events.requests[0]->accept({.qp_num = 6}));
  settle();

  EXPECT_EQ(endpoint->qp_transition(IBV_QPS_RTS).value().attr.timeout, 40);
  EXPECT_EQ(b.events.requests[0]->qp_transition(IBV_QPS_RTS).value().attr.timeout, 31);
}

}  // namespace
}  // namespace anyrdma::transport::soft::testing
