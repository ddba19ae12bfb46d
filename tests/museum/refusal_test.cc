// Section E: Rejections, stale connections, timeouts
#include <cerrno>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tests/museum/exhibit.h"
#include "tests/semantics/scenario.h"

namespace anyrdma::museum {
namespace {

using semantics::Address;
using semantics::error_of;
using semantics::kConsumerDefined;
using semantics::kInvalidServiceId;
using semantics::kStaleConnection;
using semantics::padded;
using semantics::parameters;
using semantics::Party;
using semantics::seconds;
using semantics::Seen;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Gt;
using ::testing::Lt;
using ::testing::SizeIs;

class Refusal : public semantics::Scenario {
 protected:
  /// A client's id without a QP that asks the server, and takes no event.
  rdma_cm_id* ask(std::string_view data = "") {
    rdma_cm_id* id = client.routed(kServer);
    rdma_conn_param param = parameters(data);
    EXPECT_EQ(error_of(rdma_connect(id, &param)), 0);
    return id;
  }
  static int accept(rdma_cm_id* id, std::uint8_t length = 0) {
    static const std::string data(255, 'x');
    rdma_conn_param param = parameters(std::string_view(data).substr(0, length));
    return error_of(rdma_accept(id, &param));
  }
};

// --- 28: the peer lost its power ----------------------------------------------------------------

class PowerCut : public Exhibit {
 protected:
  struct Answer {
    rdma_cm_event_type type{};
    int status = 0;
    bool operator==(const Answer&) const = default;
  };

  /// Starts with the client's machine: tries so many times to get a connection, and keeps it.
  void connect_at_start(int attempts) {
    client_host.on_start("connect", [this, attempts] {
      Program program(client_host);
      for (int i = 0; i < attempts; ++i) {
        const auto id = program.resolve(server_host.address(kPort));
        Pipe pipe(*id);
        const rdma_conn_param param = semantics::parameters();
        EXPECT_TRUE(id->connect(&param));
        const std::optional<cm::Event> event = program.next();
        if (!event) return;
        answers.push_back({event->type(), event->status()});
        if (event->type() != RDMA_CM_EVENT_ESTABLISHED) continue;
        (void)client_host.sleep(60s);
        return;
      }
    });
  }
  static constexpr Answer kConnected{RDMA_CM_EVENT_ESTABLISHED, 0};
  static constexpr Answer kStale{RDMA_CM_EVENT_REJECTED, kStaleConnection};
  std::vector<Answer> answers;
};

// Exhibit 28: A client lost power and came back with a queue pair number that the server still
// considered connected. The client got REJECTED (stale connection) and gave up.
// https://github.com/spdk/spdk/issues/450
// https://github.com/spdk/spdk/issues/1043
// https://github.com/spdk/spdk/issues/1087
TEST_F(PowerCut, TheClientIsStaleWhenItReturns) {
  plan("at 1s: crash client\nat 20s: restart client");
  serve_everybody();
  connect_at_start(1);

  run();

  EXPECT_THAT(answers, ElementsAre(kConnected, kStale));
}

// Exhibit 28: When a server's CM rejects a stale connection, it also ends the old connection. So a
// client that connects again gets a new connection.
// https://github.com/spdk/spdk/issues/450
TEST_F(PowerCut, TheNextAttemptWorks) {
  plan("at 1s: crash client\nat 20s: restart client");
  serve_everybody();
  connect_at_start(2);

  run();

  EXPECT_THAT(answers, ElementsAre(kConnected, kStale, kConnected));
}

// --- 29: everybody connects to everybody --------------------------------------------------------

/// One of many that connect to each other, all at once. Where two requests cross, that of the
/// higher rank counts: the higher one refuses, the lower one waits for that, or withdraws its own.
class Rank {
 public:
  enum class Loser { kWaits, kWithdraws };

  Rank(sim::Host& host, std::uint8_t number, std::size_t count, Loser loser)
      : number_(number), loser_(loser), peers_(count), program_(host) {}

  void run(const std::vector<sim::Host*>& hosts) {
    const auto listener = program_.listen(program_.host().address(sim::testing::kPort), 0);
    if (!pause(100us)) return;
    for (std::uint8_t peer = 0; peer < peers_.size(); ++peer) {
      if (peer == number_) continue;
      peers_[peer].active = program_.make_id();
      peers_[peer].active->raw()->context = &peers_[peer];
      const sockaddr_storage to = hosts[peer]->address(sim::testing::kPort).to_sockaddr();
      const auto* address = reinterpret_cast<const sockaddr*>(&to);
      EXPECT_TRUE(peers_[peer].active->resolve_addr(nullptr, address, sim::testing::kPatience));
    }
    while (std::optional<cm::Event> event = program_.next()) handle(std::move(*event));
  }

  std::size_t connected = 0;
  std::size_t refused = 0;          ///< REJECTED, status 28
  std::size_t refused_in_vain = 0;  ///< rdma_reject: EINVAL

 private:
  struct Peer {
    std::unique_ptr<cm::Id> active;
    std::unique_ptr<cm::Id> passive;
    bool asked = false;
  };

  /// No two ranks are equally fast.
  [[nodiscard]] bool pause(sim::Duration at_most) {
    sim::Host& host = program_.host();
    const auto range = static_cast<std::uint64_t>(at_most.count());
    return host.sleep(sim::Duration(host.world().random(host.name()).below(range)));
  }

  [[nodiscard]] rdma_conn_param param() {
    rdma_conn_param param = semantics::parameters();
    param.private_data = &number_;
    param.private_data_len = 1;
    return param;
  }

  void handle(cm::Event event) {
    const rdma_cm_event_type type = event.type();
    if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
      const std::uint8_t peer = event.private_data()[0];
      std::unique_ptr<cm::Id> id = event.take_request();
      event.ack();
      return answer(peers_[peer], peer, std::move(id));
    }
    auto& peer = *static_cast<Peer*>(event.id().context());
    if (type == RDMA_CM_EVENT_ESTABLISHED) {
      ++connected;
    } else if (peer.active.get() == &event.id()) {
      if (type == RDMA_CM_EVENT_REJECTED && event.status() == 28) ++refused;
      event.ack();
      go_on(peer, type);
    }
  }

  void go_on(Peer& peer, rdma_cm_event_type type) {
    if (type == RDMA_CM_EVENT_ADDR_RESOLVED) {
      EXPECT_TRUE(peer.active->resolve_route(sim::testing::kPatience));
    } else if (type == RDMA_CM_EVENT_ROUTE_RESOLVED) {
      if (peer.passive != nullptr) return;
      peer.asked = true;
      const rdma_conn_param asked = param();
      EXPECT_TRUE(peer.active->connect(&asked));
    } else if (type == RDMA_CM_EVENT_CONNECT_RESPONSE) {
      EXPECT_TRUE(peer.active->establish());
      ++connected;
    } else if (type == RDMA_CM_EVENT_REJECTED) {
      peer.active.reset();
    }
  }

  void answer(Peer& peer, std::uint8_t number, std::unique_ptr<cm::Id> id) {
    if (!pause(10us)) return;  // there is much to set up
    if (peer.asked && number_ > number) {
      if (!id->reject({})) ++refused_in_vain;
      return;
    }
    if (loser_ == Loser::kWithdraws) peer.active.reset();
    peer.passive = std::move(id);
    peer.passive->raw()->context = &peer;
    const rdma_conn_param accepted = param();
    EXPECT_TRUE(peer.passive->accept(&accepted));
  }

  std::uint8_t number_;
  Loser loser_;
  std::vector<Peer> peers_;
  sim::testing::Program program_;
};

class SimultaneousConnect : public ::testing::Test {
 protected:
  static constexpr std::uint8_t kRanks = 16;

  void run(Rank::Loser loser) {
    sim::World world(1, {.tracing = sim::Tracing::kHash});
    std::vector<sim::Host*> hosts;
    std::vector<std::unique_ptr<Rank>> ranks;
    for (std::uint8_t i = 0; i < kRanks; ++i) {
      const std::string number = std::to_string(i);
      hosts.push_back(&world.add_host("rank" + number, {"10.0.1." + number}));
      ranks.push_back(std::make_unique<Rank>(*hosts[i], i, kRanks, loser));
    }
    for (std::uint8_t i = 0; i < kRanks; ++i) {
      hosts[i]->spawn(
          "main", [&, i] { ranks[i]->run(hosts); }, sim::Ending::kMayServe);
    }
    EXPECT_TRUE(world.run()) << world.stuck_report();
    world.scheduler().fibers().close();
    for (const auto& rank : ranks) {
      EXPECT_EQ(rank->connected, kRanks - 1u) << "each to each, once";
      refused += rank->refused;
      refused_in_vain += rank->refused_in_vain;
    }
  }

  std::size_t refused = 0;
  std::size_t refused_in_vain = 0;
};

// Exhibit 29: Hundreds of processes that connect to each other at the same time reject each other's
// crossing requests. The many REJECTED events with reason 28 are harmless.
// https://github.com/ofiwg/libfabric/issues/10359
TEST_F(SimultaneousConnect, CrossingRequestsAreRefused) {
  run(Rank::Loser::kWaits);

  EXPECT_GT(refused, 0u);
  EXPECT_EQ(refused_in_vain, 0u);
}

// Exhibit 29: If two peers connect to each other and one withdraws its request, the other one's
// rdma_reject comes too late and fails with EINVAL.
// https://github.com/ofiwg/libfabric/issues/10359
TEST_F(SimultaneousConnect, ARequestThatWasWithdrawnCannotBeRefused) {
  run(Rank::Loser::kWithdraws);

  EXPECT_EQ(refused, 0u);
  EXPECT_GT(refused_in_vain, 0u);
}

// --- 30: who refused? ---------------------------------------------------------------------------

/// What an application makes of REJECTED.
enum class Verdict { kNobodyListens, kRefused };

Verdict by_event(const Seen&) {
  return Verdict::kRefused;
}
Verdict by_status(const Seen& event) {
  return event.conn.private_data_len != 0 && event.status == kConsumerDefined
             ? Verdict::kRefused
             : Verdict::kNobodyListens;
}
Verdict by_mark(const Seen& event) {
  const bool marked = !event.data.empty() && event.data[0] == 'R';
  return marked ? Verdict::kRefused : Verdict::kNobodyListens;
}

// Exhibit 30: REJECTED comes if the peer's application refuses, if the port has no listener, and if
// the server's rdma_accept fails. Applications took one case for another. Only a mark in the
// private data distinguishes them.
// https://github.com/openucx/ucx/pull/7788
// https://github.com/openucx/ucx/pull/5460
// https://github.com/openucx/ucx/pull/6024
TEST_F(Refusal, TheNetworksRejectLooksLikeTheUsers) {
  ask();
  const Seen nobody = client.take(RDMA_CM_EVENT_REJECTED, kInvalidServiceId);
  server.listen(kServer);
  ask();
  EXPECT_EQ(error_of(rdma_reject(server.take_request(), "R", 1)), 0);
  const Seen refused = client.take(RDMA_CM_EVENT_REJECTED, kConsumerDefined);
  ask();
  EXPECT_EQ(accept(server.take_request(), 197), EINVAL);
  const Seen failed = client.take(RDMA_CM_EVENT_REJECTED, kConsumerDefined);

  EXPECT_EQ(by_event(nobody), Verdict::kRefused) << "wrong";
  EXPECT_EQ(by_status(nobody), Verdict::kNobodyListens);
  EXPECT_EQ(by_status(failed), Verdict::kRefused) << "wrong: nobody meant to refuse";
  EXPECT_EQ(by_mark(nobody), Verdict::kNobodyListens);
  EXPECT_EQ(by_mark(failed), Verdict::kNobodyListens);
  EXPECT_EQ(by_mark(refused), Verdict::kRefused);
}

// --- 31: the server listens late ----------------------------------------------------------------

// Exhibit 31: A server began to listen a moment too late, and the client's second rdma_connect on
// the same id failed at once. An id can connect only once; a new id works.
// https://github.com/linux-rdma/perftest/issues/93
TEST_F(Refusal, RetryingOnTheSameIdFailsAndOnAFreshOneWorks) {
  rdma_cm_id* id = ask();
  client.take(RDMA_CM_EVENT_REJECTED, kInvalidServiceId);
  server.listen(kServer);

  rdma_conn_param param = parameters();
  EXPECT_EQ(error_of(rdma_connect(id, &param)), EINVAL);
  EXPECT_EQ(error_of(rdma_resolve_addr(id, nullptr, Address(kServer), 2000)), EINVAL);

  ask();
  EXPECT_EQ(accept(server.take_request()), 0);
  client.take(RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
}

// Exhibit 31: A slow server has requests in its queue whose clients have given up. rdma_create_qp
// fails with EINVAL for each of them, and one server refused every client for five seconds.
// https://github.com/ydb-platform/nbs/issues/6940
TEST_F(Refusal, RequestsThatWereGivenUpAreServedFirst) {
  server.listen(kServer);
  for (int i = 0; i < 5; ++i) {
    rdma_cm_id* impatient = ask();
    pass(100ms);
    client.destroy(impatient);
  }
  ask("in earnest");
  pass(1s);

  for (int i = 0; i < 5; ++i) {
    rdma_cm_id* dead = server.take_request();
    ibv_qp_init_attr attr{};
    attr.qp_type = IBV_QPT_RC;
    attr.cap.max_send_wr = attr.cap.max_recv_wr = 1;
    attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
    EXPECT_EQ(error_of(rdma_create_qp(dead, nullptr, &attr)), EINVAL);
    EXPECT_EQ(error_of(rdma_reject(dead, nullptr, 0)), EINVAL);
  }
  const Seen alive = server.take(RDMA_CM_EVENT_CONNECT_REQUEST);
  EXPECT_EQ(alive.data, padded("in earnest", 56));
  Party::make_qp(alive.id);
}

// --- 32: timeouts -------------------------------------------------------------------------------

// Exhibit 32: A stack dropped connection attempts that timed out without reporting that to the
// application. In anyrdma each call ends with an event, on both sides.
// https://github.com/ofiwg/libfabric/issues/794
TEST_F(Refusal, ATimeoutIsAnEvent) {
  const Connection half = request();
  rdma_cm_id* late = client.routed(kServer);
  plan("at 0s: cut client->server");
  pass(1ms);
  rdma_conn_param param = parameters();
  EXPECT_EQ(error_of(rdma_accept(half.passive, nullptr)), 0);
  EXPECT_EQ(error_of(rdma_connect(late, &param)), 0);
  EXPECT_EQ(client.take(RDMA_CM_EVENT_ESTABLISHED, 0).id, half.active) << "its RTU gets lost";

  EXPECT_EQ(server.take(RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT).id, half.passive);
  EXPECT_EQ(client.take(RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT).id, late);
  EXPECT_NEAR(seconds(client.now().time_since_epoch()), 102, 2);
}

// Exhibit 32: A DREQ without answer ends with DISCONNECTED, too. Only the event's status says that
// it timed out, and a program did not read the status.
// https://github.com/linux-rdma/perftest/pull/380
TEST_F(Refusal, ADisconnectThatTimedOutShowsInTheStatusOnly) {
  const Connection connection = connect();
  plan("at 0s: cut client<->server");
  pass(1s);

  EXPECT_EQ(error_of(rdma_disconnect(connection.active)), 0);

  const Seen end = client.take(RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(end.status, -ETIMEDOUT);
  EXPECT_GT(end.when.time_since_epoch(), 60s);
  server.expect_silence();
}

// --- 33: the server moved -----------------------------------------------------------------------

// Exhibit 33: A server moved to another machine while its client reconnected. The client had
// resolved the route before, so its requests went to the old MAC address, for minutes in each
// attempt. In the test only these requests go to the old address.
// https://bugzilla.kernel.org/show_bug.cgi?id=214523
TEST_F(Refusal, RequestsGoToTheOldPlaceForMinutes) {
  plan("on client->server REQ all: lose");
  rdma_cm_id* id = ask();

  EXPECT_EQ(client.take(RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT).id, id);

  EXPECT_THAT(sent("client", "REQ"), SizeIs(16));
  EXPECT_NEAR(seconds(client.now().time_since_epoch()), 102, 1);
}

// Exhibit 33: Newer kernels raise UNREACHABLE as soon as a neighbour announces another MAC address.
// A program that then uses a new id connects at once.
// https://bugzilla.kernel.org/show_bug.cgi?id=214523
TEST_F(Refusal, ANeighbourThatMovedIsReportedAtOnce) {
  plan(
      "on client->server REQ 1: lose\n"
      "on client->server REQ 2: lose\n"
      "at 10s: fail-over server eth0");
  rdma_cm_id* id = ask();

  EXPECT_EQ(client.take(RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT).id, id);
  client.destroy(id);
  const Connection fresh = connect();

  EXPECT_EQ(Party::qp_state(fresh.active), IBV_QPS_RTS);
  EXPECT_NEAR(seconds(client.now().time_since_epoch()), 10, 0.1);
}

// --- 34: the timeout of the wrong id ------------------------------------------------------------

class AckTimeout : public Refusal {
 protected:
  static constexpr std::uint8_t kShort = 10;  // 4.2 ms; the CM would choose a second or two

  static int set_timeout(rdma_cm_id* id) {
    std::uint8_t timeout = kShort;
    return error_of(
        rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof timeout));
  }
  static int timeout_of(rdma_cm_id* id) {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    EXPECT_EQ(ibv_query_qp(id->qp, &attr, IBV_QP_TIMEOUT, &init), 0);
    return attr.timeout;
  }
  /// How long it takes the id's queue pair to give up on a peer that is gone.
  sim::Duration patience_of(rdma_cm_id* id) {
    const sim::Instant start = world.now();
    EXPECT_EQ(error_of(rdma_post_send(id, nullptr, nullptr, 0, nullptr, IBV_SEND_SIGNALED)), 0);
    ibv_wc completion{};
    while (ibv_poll_cq(id->send_cq, 1, &completion) == 0) continue;
    EXPECT_EQ(completion.status, IBV_WC_RETRY_EXC_ERR);
    return world.now() - start;
  }
};

// Exhibit 34: A program set the ACK timeout on the listener's id, which carries no data. The
// connection's queue pair has the default timeout, so a dead peer is noticed late.
// https://github.com/linux-rdma/perftest/pull/275
// https://github.com/linux-rdma/perftest/pull/288
TEST_F(AckTimeout, SetOnTheListenerItIsLost) {
  rdma_cm_id* listener = server.listen(kServer);
  EXPECT_EQ(set_timeout(listener), 0) << "no complaint";
  rdma_cm_id* active = client.routed(kServer);
  Party::make_qp(active);
  EXPECT_EQ(set_timeout(active), 0);
  EXPECT_EQ(error_of(rdma_connect(active, nullptr)), 0);
  rdma_cm_id* passive = server.take_request();
  Party::make_qp(passive);
  EXPECT_EQ(error_of(rdma_accept(passive, nullptr)), 0);
  client.take(RDMA_CM_EVENT_ESTABLISHED, 0);
  server.take(RDMA_CM_EVENT_ESTABLISHED, 0);

  EXPECT_GT(timeout_of(passive), kShort);
  EXPECT_EQ(timeout_of(active), kShort);
  plan("at 0s: cut client<->server");
  pass(1ms);
  EXPECT_LT(patience_of(active), 1s);
  EXPECT_GT(patience_of(passive), 5s);
}

// Exhibit 34: A program set the ACK timeout with ibv_modify_qp on an established connection. That
// is refused, because the timeout can be set only before RTS. The program's error handler then
// disconnected.
// https://github.com/ydb-platform/nbs/pull/6928
TEST_F(AckTimeout, ItCannotBeModifiedInRts) {
  const Connection connection = connect();
  ibv_qp_attr attr{};
  attr.timeout = kShort;

  EXPECT_EQ(ibv_modify_qp(connection.active->qp, &attr, IBV_QP_TIMEOUT), EINVAL);

  const Connection mended = request();
  EXPECT_EQ(set_timeout(mended.passive), 0);
  EXPECT_EQ(error_of(rdma_accept(mended.passive, nullptr)), 0);
  EXPECT_EQ(timeout_of(mended.passive), kShort);
}

// --- 35: DREPs are lost -------------------------------------------------------------------------

class Farewell : public ::testing::Test, protected semantics::Pair {
 protected:
  Farewell() : Pair(sim::WorldOptions{.tracing = sim::Tracing::kHash}) {}
  static constexpr std::size_t kConnections = 1000;

  /// As cmtime does: all connect, then all disconnect, and one in a hundred answers gets lost.
  void hang_up_everywhere(bool server_destroys) {
    server.listen(kServer, 0);
    std::vector<rdma_cm_id*> ids;
    for (std::size_t i = 0; i < kConnections; ++i) {
      ids.push_back(client.routed(kServer));
      rdma_conn_param param = parameters();
      EXPECT_EQ(error_of(rdma_connect(ids.back(), &param)), 0);
      param = parameters();
      EXPECT_EQ(error_of(rdma_accept(server.take_request(), &param)), 0);
      client.take(RDMA_CM_EVENT_CONNECT_RESPONSE, 0);
      EXPECT_EQ(error_of(rdma_establish(ids.back())), 0);
      server.take(RDMA_CM_EVENT_ESTABLISHED, 0);
    }
    plan("on server->client DREP 1%: lose");
    start = client.now();
    for (rdma_cm_id* id : ids) EXPECT_EQ(error_of(rdma_disconnect(id)), 0);
    for (std::size_t i = 0; i < kConnections; ++i) {
      rdma_cm_id* id = server.take(RDMA_CM_EVENT_DISCONNECTED, 0).id;
      EXPECT_EQ(error_of(rdma_disconnect(id)), 0);
      if (server_destroys) server.destroy(id);
    }
    while (ended < kConnections) {
      const Seen event = keep_one();
      if (event.event != RDMA_CM_EVENT_DISCONNECTED) continue;  // TIMEWAIT_EXIT of others
      ++ended;
      if (event.status == -ETIMEDOUT) ++timed_out;
    }
    took = client.now() - start;
    lost = world.faults().status().front().fired;
  }
  Seen keep_one() {
    rdma_cm_event* event = client.hold();
    Seen seen;
    if (event == nullptr) return seen;
    seen.event = event->event;
    seen.status = event->status;
    EXPECT_EQ(error_of(rdma_ack_cm_event(event)), 0);
    return seen;
  }

  sim::Instant start{};
  sim::Duration took{};
  std::size_t ended = 0;
  std::size_t timed_out = 0;
  std::size_t lost = 0;
};

// Exhibit 35: With some thousand connections DREPs were lost, and the peer's CM does not answer a
// retransmitted DREQ. A program that waits for all DISCONNECTED events then waits for more than a
// minute.
// https://github.com/linux-rdma/rdma-core/commit/737ac31fd
// https://github.com/linux-rdma/rdma-core/commit/498d6237b
TEST_F(Farewell, OneLostDrepMakesEverybodyWaitForAMinute) {
  hang_up_everywhere(false);

  EXPECT_THAT(lost, AllOf(Gt(0u), Lt(50u)));
  EXPECT_EQ(timed_out, lost);
  EXPECT_GT(took, 60s);
}

// Exhibit 35: If the server destroys its ids, its CM answers retransmitted DREQs, so a lost DREP
// costs the client only a few seconds.
// https://github.com/linux-rdma/rdma-core/commit/498d6237b
TEST_F(Farewell, AnIdThatIsGoneIsAnsweredFor) {
  hang_up_everywhere(true);

  EXPECT_GT(lost, 0u);
  EXPECT_EQ(timed_out, 0u);
  EXPECT_LT(took, 20s) << "two repetitions at most";
}

}  // namespace
}  // namespace anyrdma::museum
