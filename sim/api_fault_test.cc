// What a plan does to calls, queue pairs and completions: each action, end to end.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <string>

#include "sim/explore/explore.h"
#include "sim/testing/audit.h"
#include "sim/testing/program.h"
#include "transport/fault/plan/legal.h"
#include "verbs/provider.h"
#include "verbs/testing/datagram_member.h"
#include "verbs/testing/errno_of.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using verbs::testing::DatagramMember;
using verbs::testing::errno_of;

class ApiFault : public ::testing::Test {
 protected:
  void inject(std::string_view plan) {
    const auto injected = world.faults().inject(FaultPlan::parse(plan).value());
    ASSERT_TRUE(injected) << injected.error().to_string();
  }
  FaultStatus only() { return world.faults().status().front(); }
  void connect() {
    active = client.resolve(server_host.address(kPort));
    out = std::make_unique<Pipe>(*active);
    const rdma_conn_param param = parameters("");
    active->connect(&param).value();
    passive = server.expect_request();
    in = std::make_unique<Pipe>(*passive);
    passive->accept(&param).value();
    client.expect(RDMA_CM_EVENT_ESTABLISHED);
    server.expect(RDMA_CM_EVENT_ESTABLISHED);
  }
  /// All completions of one side until nothing more can come.
  std::vector<ibv_wc_status> statuses(const cm::Id& id) {
    world.run_for(60s);
    std::vector<ibv_wc_status> all;
    ibv_wc one{};
    while (ibv_poll_cq(id.qp()->send_cq, 1, &one) == 1) all.push_back(one.status);
    while (ibv_poll_cq(id.qp()->recv_cq, 1, &one) == 1) all.push_back(one.status);
    return all;
  }
  /// The next asynchronous event, acknowledged.
  static ibv_event_type async_event(const cm::Id& id) {
    verbs::Provider& provider = verbs::provider_of(id.raw()->verbs);
    const auto event = provider.get_async_event(id.raw()->verbs);
    if (!event) return IBV_EVENT_DEVICE_FATAL;
    provider.ack_async_event(*event);
    return event->event_type;
  }
  /// The server posts receives, the client sends into them.
  void send(std::uint64_t count) {
    for (std::uint64_t id = 1; id <= count; ++id) in->post_receive(id, 0, 64);
    for (std::uint64_t id = 1; id <= count; ++id) out->post(IBV_WR_SEND, id, 0, 16);
  }

  World world{1};
  Host& client_host = world.add_host("client", {"10.0.0.1"});
  Host& server_host = world.add_host("server", {"10.0.0.2"});
  Program client{client_host};
  Program server{server_host};
  std::unique_ptr<cm::Id> listener = server.listen(server_host.address(kPort));
  std::unique_ptr<cm::Id> active;
  std::unique_ptr<cm::Id> passive;
  std::unique_ptr<Pipe> out;
  std::unique_ptr<Pipe> in;
};

// --- calls --------------------------------------------------------------------------------------

TEST_F(ApiFault, ACallFailsOnceAndMayBeTriedAgain) {
  inject("on client call connect 1: fail ENOMEM");
  active = client.resolve(server_host.address(kPort));
  rdma_conn_param param = parameters("");
  param.qp_num = 0x100;

  EXPECT_EQ(errno_of(active->connect(&param)), ENOMEM);
  EXPECT_EQ(errno_of(active->connect(&param)), 0);

  passive = server.expect_request();
  EXPECT_EQ(only().armed, 2u);
  EXPECT_EQ(only().observed, 1u);
}

TEST_F(ApiFault, AnAcceptThatFailsRejects) {
  inject("on server call accept 1: fail ENOMEM");
  active = client.resolve(server_host.address(kPort));
  rdma_conn_param param = parameters("");
  param.qp_num = 0x100;
  active->connect(&param).value();
  passive = server.expect_request();

  EXPECT_EQ(errno_of(passive->accept(&param)), ENOMEM);

  EXPECT_EQ(client.expect(RDMA_CM_EVENT_REJECTED).status, 28);
}

TEST_F(ApiFault, ResolutionAndBindingFailAtOnce) {
  inject(
      "on client call create_event_channel 1: fail EMFILE\n"
      "on client call create_id 1: fail ENOMEM\n"
      "on client call bind_addr 1: fail EADDRINUSE\n"
      "on client call resolve_addr 1: fail ENETUNREACH\n"
      "on client call listen 1: fail EADDRINUSE\n");
  const auto address = server_host.address(kPort).to_sockaddr();
  const auto own = client_host.address(0).to_sockaddr();
  const auto* peer = reinterpret_cast<const sockaddr*>(&address);
  const auto* self = reinterpret_cast<const sockaddr*>(&own);

  EXPECT_EQ(errno_of(cm::EventChannel::create(client_host.transport())), EMFILE);
  EXPECT_EQ(errno_of(cm::Id::create(client.channel(), RDMA_PS_TCP, nullptr)), ENOMEM);
  active = client.make_id();
  EXPECT_EQ(errno_of(active->bind(self)), EADDRINUSE);
  EXPECT_EQ(errno_of(active->resolve_addr(nullptr, peer, kPatience)), ENETUNREACH);
  EXPECT_EQ(errno_of(active->listen(1)), EADDRINUSE);
  EXPECT_TRUE(world.faults().unfired().empty());
}

TEST_F(ApiFault, AResolutionIsToldOfWhatFailsWhenItIsFetched) {
  inject("on client call alloc_pd 1: fail ENOMEM");  // librdmacm's own, at the first event
  const auto address = server_host.address(kPort).to_sockaddr();
  active = client.make_id();
  active->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&address), kPatience).value();

  EXPECT_EQ(client.expect(RDMA_CM_EVENT_ADDR_ERROR).status, -1);
}

TEST_F(ApiFault, TheNthAllocationFailsWhateverItIs) {
  inject("on client call any_allocation 4: fail ENOMEM");  // id, domain, channel: the CQ
  active = client.resolve(server_host.address(kPort));
  ibv_qp_init_attr attr{};
  attr.qp_type = IBV_QPT_RC;
  attr.cap = {.max_send_wr = 1,
              .max_recv_wr = 1,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = 0};

  EXPECT_EQ(errno_of(active->create_qp(nullptr, &attr)), ENOMEM);
  EXPECT_EQ(errno_of(active->create_qp(nullptr, &attr)), 0);
  EXPECT_EQ(errno_of(active->destroy_qp()), 0);
}

TEST_F(ApiFault, AQueuePairThatCannotBeMovedIsAConnectError) {
  // To INIT when it is made, and again; then to RTR.
  inject("on client call modify_qp 3: fail ETIMEDOUT");
  active = client.resolve(server_host.address(kPort));
  out = std::make_unique<Pipe>(*active);
  const rdma_conn_param param = parameters("");
  active->connect(&param).value();
  passive = server.expect_request();
  in = std::make_unique<Pipe>(*passive);
  passive->accept(&param).value();

  EXPECT_EQ(client.expect(RDMA_CM_EVENT_CONNECT_ERROR).status, -1);
}

TEST_F(ApiFault, APostThatFailsPostsNothing) {
  connect();
  inject("on client call post_send 2: fail ENOMEM");
  in->post_receive(1, 0, 64);
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND;
  ibv_send_wr* bad = nullptr;

  EXPECT_EQ(ibv_post_send(active->qp(), &request, &bad), 0);
  EXPECT_EQ(ibv_post_send(active->qp(), &request, &bad), ENOMEM);

  EXPECT_EQ(bad, &request);
  EXPECT_THAT(statuses(*active), ElementsAre(IBV_WC_SUCCESS));
}

TEST_F(ApiFault, AVerbsCallTriggersWhatHappensToTheWorld) {
  connect();
  inject("on client call post_recv 1: remove server anyrdma0");
  out->post_receive(1, 0, 64);
  EXPECT_EQ(server.expect(RDMA_CM_EVENT_DEVICE_REMOVAL).status, 0);
}

// --- completions --------------------------------------------------------------------------------

TEST_F(ApiFault, TheNthSendEndsInErrorAndTheRestIsFlushed) {
  connect();
  inject("on client completion SEND 2: complete RETRY_EXC_ERR");

  send(3);

  EXPECT_THAT(statuses(*active),
              ElementsAre(IBV_WC_SUCCESS, IBV_WC_RETRY_EXC_ERR, IBV_WC_WR_FLUSH_ERR));
  EXPECT_THAT(statuses(*passive), ElementsAre(IBV_WC_SUCCESS));
  EXPECT_EQ(only().observed, 1u);
}

TEST_F(ApiFault, AReceiveInErrorIsAnErrorOfTheSender) {
  connect();
  inject("on server completion RECV 1: complete LOC_PROT_ERR");

  send(2);

  EXPECT_THAT(statuses(*passive), ElementsAre(IBV_WC_LOC_PROT_ERR, IBV_WC_WR_FLUSH_ERR));
  EXPECT_THAT(statuses(*active), ElementsAre(IBV_WC_REM_OP_ERR, IBV_WC_WR_FLUSH_ERR));
}

TEST_F(ApiFault, ARefusedWriteIsAnErrorOfThePeersQueuePair) {
  connect();
  inject("on client#qp1 completion RDMA_WRITE 1: complete REM_ACCESS_ERR");

  out->post(IBV_WR_RDMA_WRITE, 1, 0, 16, in->address(), in->rkey());

  EXPECT_THAT(statuses(*active), ElementsAre(IBV_WC_REM_ACCESS_ERR));
  EXPECT_EQ(async_event(*passive), IBV_EVENT_QP_ACCESS_ERR);
}

TEST_F(ApiFault, WorkThatIsNeverDoneWasNotObserved) {
  connect();
  inject("on server completion RECV 2: complete LOC_LEN_ERR");
  in->post_receive(1, 0, 64);
  in->post_receive(2, 0, 64);

  EXPECT_EQ(errno_of(passive->disconnect()), 0);

  EXPECT_THAT(statuses(*passive), ElementsAre(IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR));
  EXPECT_EQ(only().fired, 1u);
  EXPECT_EQ(only().observed, 0u);
}

TEST_F(ApiFault, WorkOfAnotherQueuePairDoesNotCount) {
  connect();
  inject("maybe on client#qp2 completion SEND 1: complete RETRY_EXC_ERR");
  send(1);
  EXPECT_THAT(statuses(*active), ElementsAre(IBV_WC_SUCCESS));
  EXPECT_EQ(only().armed, 0u);
}

TEST_F(ApiFault, ADatagramThatCannotBeSentLeavesItsReceivesAlone) {
  DatagramMember sender(client_host.hca(), client_host.hca().device(), 0);
  inject(
      "on client completion SEND 1: complete LOC_QP_OP_ERR\n"
      "maybe on client completion SEND 1: complete RETRY_EXC_ERR\n");  // none on datagrams

  sender.send_to_group(Address::ipv4(0xef010101).gid());
  world.run_for(1s);

  ibv_wc completion{};
  ASSERT_EQ(ibv_poll_cq(sender.qp()->send_cq, 1, &completion), 1);
  EXPECT_EQ(completion.status, IBV_WC_LOC_QP_OP_ERR);
  EXPECT_EQ(sender.qp()->state, IBV_QPS_SQE);
  EXPECT_EQ(only().observed, 1u);
  EXPECT_EQ(world.faults().status()[1].armed, 0u);
}

// --- queues -------------------------------------------------------------------------------------

TEST_F(ApiFault, AQueuePairFailsByItself) {
  connect();
  in->post_receive(1, 0, 64);
  inject("at 1s: qp-error server#qp1 QP_FATAL");

  EXPECT_THAT(statuses(*passive), ElementsAre(IBV_WC_WR_FLUSH_ERR));
  EXPECT_EQ(async_event(*passive), IBV_EVENT_QP_FATAL);
  EXPECT_EQ(only().observed, 1u);

  out->post(IBV_WR_SEND, 1, 0, 16);
  EXPECT_THAT(statuses(*active), ElementsAre(IBV_WC_RETRY_EXC_ERR));
}

TEST_F(ApiFault, AQueuePairThatIsNotThereCannotFail) {
  connect();
  inject("at 1s: qp-error server#qp0x999 QP_FATAL");
  world.run_for(2s);
  EXPECT_EQ(only().fired, 1u);
  EXPECT_EQ(only().observed, 0u);
}

TEST_F(ApiFault, AnOverrunTakesTheQueuePairWithIt) {
  connect();
  inject("at 1s: cq-overrun server#cq1");
  world.run_for(2s);
  EXPECT_EQ(async_event(*passive), IBV_EVENT_CQ_ERR);
  EXPECT_EQ(async_event(*passive), IBV_EVENT_QP_FATAL);
  EXPECT_EQ(only().observed, 1u);
}

// --- programs -----------------------------------------------------------------------------------

TEST_F(ApiFault, ASlowProgramTakesItsEventsLate) {
  inject("at 0s: slow-consumer client 5ms");
  world.run_for(1ms);
  client_host.spawn("client", [this] { active = client.resolve(server_host.address(kPort)); });

  ASSERT_TRUE(world.run());

  const Instant start{1ms};
  ASSERT_EQ(client.seen.size(), 2u);
  EXPECT_GE(client.seen[0].when, start + 5ms);
  EXPECT_GE(client.seen[1].when, client.seen[0].when + 5ms);
}

TEST_F(ApiFault, HealingMakesProgramsFastAgain) {
  inject("at 0s: slow-consumer client 5ms");
  world.run_for(1ms);
  heal(world);
  client_host.spawn("client", [this] { active = client.resolve(server_host.address(kPort)); });

  ASSERT_TRUE(world.run());

  EXPECT_LT(client.seen.back().when, Instant(5ms));
}

TEST_F(ApiFault, ASlowProgramSeesItsCompletionsLate) {
  connect();
  in->post_receive(1, 0, 64);
  inject("at 0s: slow-consumer server 5ms");
  world.run_for(1ms);
  const Instant start = world.now();
  Instant polled{};
  server_host.spawn("poll", [&] {
    EXPECT_EQ(in->wait_received().status, IBV_WC_SUCCESS);
    polled = world.now();
  });
  out->post(IBV_WR_SEND, 1, 0, 16);

  ASSERT_TRUE(world.run());

  EXPECT_GE(polled, start + 5ms);
  EXPECT_EQ(only().observed, 1u);
}

// --- every row of the table ---------------------------------------------------------------------

/// Makes every call that a plan can let fail, and goes on whatever it gives.
class Tour {
 public:
  explicit Tour(World& world)
      : client_host_(world.add_host("client", {"10.0.0.1"})),
        server_host_(world.add_host("server", {"10.0.0.2"})) {}

  /// What the first call of each kind gave.
  std::map<std::string, int, std::less<>> errors;

  void run() {
    make_objects();
    const auto channel = cm::EventChannel::create(client_host_.transport());
    note("create_event_channel", channel);
    note("create_id", cm::Id::create(client_.channel(), RDMA_PS_TCP, nullptr));
    listen();
    connect();
    reject();
    join();
    errors["any_allocation"] = errors["open_device"];
  }

 private:
  int note(std::string_view call, const auto& result) {
    const int error = errno_of(result);
    errors.emplace(call, error);
    return error;
  }
  /// Until it succeeds, which takes two tries at most.
  auto make(std::string_view call, const auto& attempt) {
    auto made = attempt();
    return note(call, made) == 0 ? *made : attempt().value();
  }

  void make_objects() {
    verbs::soft::Hca& hca = client_host_.hca();
    ibv_context* const context = make("open_device", [&] { return hca.open_device(hca.device()); });
    ibv_pd* const pd = make("alloc_pd", [&] { return hca.alloc_pd(context); });
    ibv_mr* const mr = make("reg_mr", [&] { return hca.reg_mr(pd, &errors, 1, 0, 0); });
    note("rereg_mr", hca.rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, pd, nullptr, 0, 0));
    (void)make("create_comp_channel", [&] { return hca.create_comp_channel(context); });
    ibv_cq* const cq =
        make("create_cq", [&] { return hca.create_cq(context, 1, nullptr, nullptr, 0); });
    note("resize_cq", hca.resize_cq(cq, 2));
    ibv_modify_cq_attr moderation{};
    errors["modify_cq"] = ibv_modify_cq(cq, &moderation);
    ibv_srq_init_attr srq{.srq_context = nullptr,
                          .attr = {.max_wr = 1, .max_sge = 1, .srq_limit = 0}};
    ibv_srq* const shared = make("create_srq", [&] { return hca.create_srq(pd, &srq); });
    note("modify_srq", hca.modify_srq(shared, srq.attr, 0));
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.qp_type = IBV_QPT_UD;
    ibv_qp* const qp = make("create_qp", [&] { return hca.create_qp(pd, &init); });
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_ERR;
    note("modify_qp", hca.modify_qp(qp, &attr, IBV_QP_STATE));
    const ibv_gid group = Address::ipv4(0xef010101).gid();
    note("attach_mcast", hca.attach_mcast(qp, group, 0));
    note("create_ah", hca.create_ah(pd, {}));
    ibv_send_wr* bad_send = nullptr;
    ibv_recv_wr* bad_receive = nullptr;
    errors["post_send"] = ibv_post_send(qp, nullptr, &bad_send);
    errors["post_recv"] = ibv_post_recv(qp, nullptr, &bad_receive);
    errors["post_srq_recv"] = ibv_post_srq_recv(shared, nullptr, &bad_receive);
    make_extended(context, pd);
  }
  /// Calls that go through the context.
  void make_extended(ibv_context* context, ibv_pd* pd) {
    const auto error = [](const void* made) { return made != nullptr ? 0 : errno; };
    ibv_td_init_attr td{};
    errors["alloc_td"] = error(ibv_alloc_td(context, &td));
    ibv_parent_domain_init_attr parent{};
    parent.pd = pd;
    errors["alloc_parent_domain"] = error(ibv_alloc_parent_domain(context, &parent));
    errors["alloc_null_mr"] = error(ibv_alloc_null_mr(pd));
    errors["alloc_mw"] = error(ibv_alloc_mw(pd, IBV_MW_TYPE_1));
    ibv_alloc_dm_attr dm{.length = 64, .log_align_req = 0, .comp_mask = 0};
    errors["alloc_dm"] = error(ibv_alloc_dm(context, &dm));
    ibv_xrcd_init_attr domain{.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
                              .fd = -1,
                              .oflags = O_CREAT};
    ibv_xrcd* xrcd = ibv_open_xrcd(context, &domain);
    errors["open_xrcd"] = error(xrcd);
    if (xrcd == nullptr) xrcd = ibv_open_xrcd(context, &domain);
    ibv_qp_init_attr_ex receiver{};
    receiver.qp_type = IBV_QPT_XRC_RECV;
    receiver.comp_mask = IBV_QP_INIT_ATTR_XRCD;
    receiver.xrcd = xrcd;
    const ibv_qp* const shared = verbs_get_ctx(context)->create_qp_ex(context, &receiver);
    ibv_qp_open_attr open{};
    open.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
    open.qp_num = shared != nullptr ? shared->qp_num : 0;  // it may be its making that fails
    open.xrcd = xrcd;
    open.qp_type = IBV_QPT_XRC_RECV;
    errors["open_qp"] = error(ibv_open_qp(context, &open));
  }
  void listen() {
    const sockaddr_storage address = server_host_.address(kPort).to_sockaddr();
    listener_ = server_.make_id();
    const auto bind = [&] { return listener_->bind(reinterpret_cast<const sockaddr*>(&address)); };
    if (note("bind_addr", bind()) != 0) bind().value();
    if (note("listen", listener_->listen(8)) != 0) listener_->listen(8).value();
  }
  void connect() {
    const sockaddr_storage address = server_host_.address(kPort).to_sockaddr();
    const auto id = client_.make_id();
    const auto resolve = [&] {
      return id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&address), kPatience);
    };
    if (note("resolve_addr", resolve()) != 0) resolve().value();
    client_.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
    const auto route = [&] { return id->resolve_route(kPatience); };
    if (note("resolve_route", route()) != 0) route().value();
    client_.expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
    rdma_conn_param param = parameters("");
    param.qp_num = 0x100;
    if (note("connect", id->connect(&param)) != 0) id->connect(&param).value();
    const auto passive = server_.expect_request();
    note("accept", passive->accept(&param));
    note("notify", passive->notify(IBV_EVENT_COMM_EST));
    (void)client_.next();  // CONNECT_RESPONSE, or REJECTED
    note("establish", id->establish());
    note("disconnect", id->disconnect());
  }
  void reject() {
    const auto id = client_.resolve(server_host_.address(kPort));
    rdma_conn_param param = parameters("");
    param.qp_num = 0x101;
    id->connect(&param).value();
    note("reject", server_.expect_request()->reject({}));
  }
  void join() {
    const auto id = cm::Id::create(client_.channel(), RDMA_PS_UDP, nullptr).value();
    const sockaddr_storage own = client_host_.address(0).to_sockaddr();
    id->bind(reinterpret_cast<const sockaddr*>(&own)).value();
    const sockaddr_storage group = Address::ipv4(0xef010101).to_sockaddr();
    const auto* to = reinterpret_cast<const sockaddr*>(&group);
    note("join_multicast", id->join_multicast(to, nullptr));
    note("leave_multicast", id->leave_multicast(to));
  }

  Host& client_host_;
  Host& server_host_;
  Program client_{client_host_};
  Program server_{server_host_};
  std::unique_ptr<cm::Id> listener_;
};

TEST(ApiFaults, EveryCallFailsWithEachErrnoThatItCanHave) {
  const Unaudited what_a_failure_leaves_behind;
  for (const fault::LegalErrno& row : fault::legal_errnos()) {
    const FaultPlan plan{{{OnCall{"", 0, std::string(row.call), 1}, FailCall{{row.error}}}}};
    SCOPED_TRACE(plan.to_string());
    World world(1);
    Tour tour(world);
    ASSERT_TRUE(world.faults().inject(plan));

    tour.run();

    EXPECT_EQ(tour.errors[std::string(row.call)], row.error);
    EXPECT_EQ(world.faults().status().front().fired, 1u);
  }
}

}  // namespace
}  // namespace anyrdma::sim::testing
