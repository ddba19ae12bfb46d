// When data overtakes the RTU: the QP's asynchronous event, and who passes it on to the id.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <optional>

#include "cm/async_events.h"
#include "sim/testing/program.h"
#include "verbs/provider.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

/// A QP of the program's own, which accept() therefore does not touch: it stays in RTR until the
/// program learns that the connection stands.
class OwnQp {
 public:
  explicit OwnQp(cm::Id& id) : provider_(verbs::provider_of(id.raw()->verbs)) {
    pd_ = provider_.alloc_pd(id.raw()->verbs).value();
    cq_ = provider_.create_cq(id.raw()->verbs, 16, nullptr, nullptr, 0).value();
    ibv_qp_init_attr attr{};
    attr.qp_type = IBV_QPT_RC;
    attr.send_cq = attr.recv_cq = cq_;
    attr.cap.max_send_wr = attr.cap.max_recv_wr = 4;
    attr.cap.max_send_sge = attr.cap.max_recv_sge = 1;
    qp_ = provider_.create_qp(pd_, &attr).value();
    move(id, IBV_QPS_INIT);
    move(id, IBV_QPS_RTR);
    ibv_recv_wr receive{};
    ibv_recv_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_recv(qp_, &receive, &bad), 0);
  }
  ~OwnQp() {
    EXPECT_TRUE(provider_.destroy_qp(qp_));
    EXPECT_TRUE(provider_.destroy_cq(cq_));
    EXPECT_TRUE(provider_.dealloc_pd(pd_));
  }
  OwnQp(const OwnQp&) = delete;
  OwnQp& operator=(const OwnQp&) = delete;

  [[nodiscard]] ibv_qp* raw() const { return qp_; }
  void move(cm::Id& id, ibv_qp_state state) {
    transport::QpTransition step = id.init_qp_attr(state).value();
    provider_.modify_qp(qp_, &step.attr, step.mask).value();
  }

 private:
  verbs::Provider& provider_;
  ibv_pd* pd_ = nullptr;
  ibv_cq* cq_ = nullptr;
  ibv_qp* qp_ = nullptr;
};

class Notify : public ::testing::Test {
 protected:
  void lose(const char* what) {
    const auto plan = FaultPlan::parse(what).value();
    ASSERT_TRUE(world.faults().inject(plan));
  }
  /// Connects, and sends an empty message as soon as the connection stands for the client.
  void start_client() {
    client_host.spawn("client", [this] {
      Program client(client_host);
      const auto active = client.resolve(server_host.address(kPort));
      Pipe pipe(*active);
      active->connect(nullptr).value();
      client.expect(RDMA_CM_EVENT_ESTABLISHED);
      if (sends) pipe.post(IBV_WR_SEND, 1, 0, 0);
      (void)client_host.sleep(20s);
    });
  }
  /// Accepts with a QP of its own.
  void accept() {
    listener = server.listen(server_host.address(kPort));
    id = server.expect_request();
    qp.emplace(*id);
    rdma_conn_param param = parameters("");
    param.qp_num = qp->raw()->qp_num;
    id->accept(&param).value();
  }
  [[nodiscard]] verbs::Provider& provider() const { return verbs::provider_of(id->raw()->verbs); }
  /// What the server has seen until all is quiet.
  [[nodiscard]] std::vector<rdma_cm_event_type> events_until_rest() {
    EXPECT_TRUE(server_host.sleep(10s));
    server.take_all();
    return types_of(server.seen);
  }

  World world{1};
  Host& client_host = world.add_host("client", {"192.0.2.1"});
  Host& server_host = world.add_host("server", {"192.0.2.2"});
  Program server{server_host};
  bool sends = true;
  std::unique_ptr<cm::Id> listener;
  std::unique_ptr<cm::Id> id;
  std::optional<OwnQp> qp;
};

TEST_F(Notify, WithoutItALostRtuCostsARetransmissionOfTheReply) {
  lose("on client->server RTU 1: lose\n");
  start_client();
  accept();

  server.expect(RDMA_CM_EVENT_ESTABLISHED);

  EXPECT_GT(world.now(), Instant(4s));
  qp.reset();
}

TEST_F(Notify, TheFirstMessageRaisesAnEventThatEstablishesExactlyOnce) {
  lose("on client->server RTU 1: lose\n");
  start_client();
  accept();

  const ibv_async_event event = provider().get_async_event(id->raw()->verbs).value();
  EXPECT_EQ(event.event_type, IBV_EVENT_COMM_EST);
  EXPECT_EQ(event.element.qp, qp->raw());
  EXPECT_TRUE(id->notify(event.event_type));
  provider().ack_async_event(event);

  EXPECT_LT(world.now(), Instant(1s));
  EXPECT_THAT(events_until_rest(),
              ElementsAre(RDMA_CM_EVENT_CONNECT_REQUEST, RDMA_CM_EVENT_ESTABLISHED));
  EXPECT_EQ(id->notify(IBV_EVENT_COMM_EST).error().value(), EISCONN);
  qp->move(*id, IBV_QPS_RTS);
  qp.reset();
}

TEST_F(Notify, WhoIsSlowerThanTheRtuIsToldThatItIsConnected) {
  start_client();
  accept();

  const ibv_async_event event = provider().get_async_event(id->raw()->verbs).value();
  EXPECT_TRUE(server_host.sleep(1s));

  EXPECT_EQ(id->notify(event.event_type).error().value(), EISCONN);
  provider().ack_async_event(event);
  EXPECT_THAT(events_until_rest(),
              ElementsAre(RDMA_CM_EVENT_CONNECT_REQUEST, RDMA_CM_EVENT_ESTABLISHED));
  qp.reset();
}

TEST_F(Notify, AnRtuThatComesAfterwardsIsSwallowed) {
  world.set_link(client_host, server_host, {.latency = 50ms});
  sends = false;
  start_client();
  accept();
  EXPECT_TRUE(server_host.sleep(75ms));  // the RTU is on its way

  EXPECT_TRUE(id->notify(IBV_EVENT_COMM_EST));

  EXPECT_THAT(events_until_rest(),
              ElementsAre(RDMA_CM_EVENT_CONNECT_REQUEST, RDMA_CM_EVENT_ESTABLISHED));
  qp.reset();
}

TEST_F(Notify, ForwardingEstablishesTheConnectionByItself) {
  lose("on client->server RTU 1: lose\n");
  start_client();
  accept();
  server_host.spawn(
      "forwarder",
      [this] { (void)cm::forward_async_events(*id->raw()->verbs, server.channel()).has_value(); },
      Ending::kMayServe);

  server.expect(RDMA_CM_EVENT_ESTABLISHED);

  EXPECT_LT(world.now(), Instant(1s));
  EXPECT_THAT(events_until_rest(),
              ElementsAre(RDMA_CM_EVENT_CONNECT_REQUEST, RDMA_CM_EVENT_ESTABLISHED));
  qp.reset();
}

TEST_F(Notify, ForwardingHeedsOnlyItsChannelsIdsAndThatOneEvent) {
  start_client();
  accept();
  ibv_async_event event{};
  event.element.qp = qp->raw();

  event.event_type = IBV_EVENT_SQ_DRAINED;
  EXPECT_EQ(server.channel().notify(event).error().value(), EINVAL);
  event.event_type = IBV_EVENT_COMM_EST;
  Program other(server_host);
  EXPECT_EQ(other.channel().notify(event).error().value(), ENOENT);
  EXPECT_TRUE(server.channel().notify(event));
  EXPECT_EQ(server.channel().notify(event).error().value(), EISCONN);
  EXPECT_THAT(events_until_rest(),
              ElementsAre(RDMA_CM_EVENT_CONNECT_REQUEST, RDMA_CM_EVENT_ESTABLISHED));
  qp.reset();
}

}  // namespace
}  // namespace anyrdma::sim::testing
