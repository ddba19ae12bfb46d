// Section C: Races and ordering in the CM event path
#include <cstring>
#include <optional>

#include "tests/museum/exhibit.h"

namespace anyrdma::museum {
namespace {

using ::testing::HasSubstr;

class Ordering : public Exhibit {};

/// What libfabric's verbs endpoint made of events, in short: whatever ends the connection ends it
/// once, it was sure, and said so in an assertion.
class Endpoint {
 public:
  void on_event(rdma_cm_event_type type) {
    if (type == RDMA_CM_EVENT_ESTABLISHED) return;
    if (over_) assertion_fell_ = true;  // assert(state != DISCONNECTED)
    over_ = true;
  }
  [[nodiscard]] bool assertion_fell() const { return assertion_fell_; }

 private:
  bool over_ = false;
  bool assertion_fell_ = false;
};

// Exhibit 14: When a neighbour's MAC address changes, the kernel raises UNREACHABLE also for a
// connected id, which stays connected.
// https://github.com/ofiwg/libfabric/issues/12362
TEST_F(Ordering, UnreachableComesAfterEstablished) {
  plan("at 1s: fail-over server eth0");
  serve([this] {
    const auto listener = server.listen(server_host.address(kPort));
    const Connection side = accept();
    server.expect(RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_EQ(side.pipe->wait_received().status, IBV_WC_SUCCESS) << "the connection lives on";
  });
  ask([this] {
    const Connection side = connect();
    EXPECT_EQ(client.expect(RDMA_CM_EVENT_UNREACHABLE).status, -ETIMEDOUT);
    side.pipe->post(IBV_WR_SEND, 1, 0, 16);
    EXPECT_EQ(side.pipe->wait_sent().status, IBV_WC_SUCCESS);
  });

  run();
}

// Exhibit 14: UNREACHABLE because of a neighbour's new MAC address may come after DISCONNECTED.
// That broke an assertion of libfabric that a connection ends once.
// https://github.com/ofiwg/libfabric/pull/12378
TEST_F(Ordering, UnreachableBehindDisconnectedFellsAnAssertion) {
  plan("on client fetched DISCONNECTED 1: fail-over server eth0");
  Endpoint endpoint;
  serve([this] {
    const auto listener = server.listen(server_host.address(kPort));
    const Connection side = accept();
    server.expect(RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_TRUE(side.id->disconnect());
    EXPECT_TRUE(server_host.sleep(1s));
  });
  ask([&] {
    const Connection side = connect();
    for (int events = 0; events < 2; ++events) endpoint.on_event(client.next()->type());
  });

  run();

  EXPECT_TRUE(endpoint.assertion_fell());
}

// Exhibit 15: The client's DREQ overtook its RTU, so the server got DISCONNECTED and never
// ESTABLISHED. A program that waits for ESTABLISHED before it handles DISCONNECTED waits for ever.
// https://github.com/openucx/ucx/pull/4719
TEST_F(Ordering, DisconnectedComesWithoutEstablished) {
  plan("on client->server RTU 1: delay 5ms");
  bool established = false;
  server_host.spawn("serve", [&] {
    const auto listener = server.listen(server_host.address(kPort));
    const Connection side = accept();
    while (const std::optional<cm::Event> event = server.next()) {
      established = event->type() == RDMA_CM_EVENT_ESTABLISHED;
      if (established) break;
    }
  });
  ask([this] { EXPECT_TRUE(connect().id->disconnect()); });

  EXPECT_THAT(run_into_hang(), HasSubstr("server/serve waits for an event"));

  EXPECT_FALSE(established);
  EXPECT_THAT(sim::testing::types_of(server.seen),
              ::testing::ElementsAre(RDMA_CM_EVENT_CONNECT_REQUEST, RDMA_CM_EVENT_DISCONNECTED));
}

/// Each side has its queue pair ready before the other knows of it: the first message may be there
/// before the event that the connection is.
class EarlyMessage : public Ordering {
 protected:
  enum class Program { kDrops, kKeeps };

  /// What the server delivered of the message that the client was told had arrived.
  std::string deliver(Program program) {
    plan("on client->server RTU 1: delay 5ms");
    serve([this, program] { serve_one(program); });
    ask([this] {
      const Connection side = connect();
      std::memcpy(side.pipe->buffer().data(), "precious", 8);
      side.pipe->post_receive(2, 64, 8);
      side.pipe->post(IBV_WR_SEND, 1, 0, 8);
      EXPECT_EQ(side.pipe->wait_sent().status, IBV_WC_SUCCESS);
      EXPECT_EQ(side.pipe->wait_received().status, IBV_WC_SUCCESS) << "acknowledged";
      EXPECT_TRUE(client_host.sleep(1s));
    });
    run();
    return delivered_;
  }

 private:
  void serve_one(Program program) {
    const auto listener = server.listen(server_host.address(kPort));
    const Connection side = accept();
    EXPECT_EQ(side.pipe->wait_received().status, IBV_WC_SUCCESS);
    const bool established = server.channel().try_get().has_value();
    EXPECT_FALSE(established) << "RTU is still on its way";
    if (program == Program::kKeeps || established) {
      delivered_.assign(side.pipe->buffer().begin(), side.pipe->buffer().begin() + 8);
    }
    side.pipe->post(IBV_WR_SEND, 3, 64, 8);  // returns the credit, whatever became of the message
    EXPECT_EQ(side.pipe->wait_sent().status, IBV_WC_SUCCESS);
    server.expect(RDMA_CM_EVENT_ESTABLISHED);
  }

  std::string delivered_;
};

// Exhibit 16: A server dropped a message whose receive completed before ESTABLISHED. The message
// had been acknowledged, so the client believed that it was delivered.
// https://github.com/apache/brpc/pull/3480
TEST_F(EarlyMessage, IsDroppedAndAcknowledged) {
  EXPECT_EQ(deliver(Program::kDrops), "");
}

// Exhibit 16: A corrected server keeps a message whose receive completes before ESTABLISHED, so
// nothing is lost.
// https://github.com/apache/brpc/pull/3480
TEST_F(EarlyMessage, IsKeptByTheMendedServer) {
  EXPECT_EQ(deliver(Program::kKeeps), "precious");
}

// Exhibit 16: Users ask why receives must be posted before rdma_accept. Otherwise the client's
// first message finds no receive, and a client without RNR retries loses its connection.
// https://github.com/linzino7/RDMA-example-application/issues/2
// https://github.com/w180112/RDMA-example/issues/4
// https://github.com/pmem/rpma/pull/350
// https://github.com/NVIDIA/daqiri/pull/180
TEST_F(Ordering, AReceivePostedAfterTheAcceptComesTooLate) {
  serve([this] {
    const auto listener = server.listen(server_host.address(kPort));
    const auto id = server.expect_request();
    Pipe pipe(*id);
    rdma_conn_param param = parameters("");
    param.rnr_retry_count = 0;  // the client's: each side says how patient its peer is
    EXPECT_TRUE(id->accept(&param));
    EXPECT_TRUE(server_host.sleep(1ms));  // has other things to do
    server.expect(RDMA_CM_EVENT_ESTABLISHED);
    pipe.post_receive(1, 0, 16);
    server.expect(RDMA_CM_EVENT_DISCONNECTED);
  });
  ask([this] {
    const Connection side = connect();
    side.pipe->post(IBV_WR_SEND, 1, 0, 16);
    EXPECT_EQ(side.pipe->wait_sent().status, IBV_WC_RNR_RETRY_EXC_ERR);
  });

  run();
}

// Exhibit 17: One thread destroyed the queue pair while another fetched the response, so librdmacm
// modified a destroyed queue pair. In anyrdma the destruction waits for a running fetch. A later
// fetch finds no queue pair, and returns CONNECT_RESPONSE.
// https://github.com/linux-rdma/rdma-core/pull/1182
TEST_F(Ordering, AQueuePairIsDestroyedBeforeTheResponseIsFetched) {
  std::unique_ptr<cm::Id> id;
  std::unique_ptr<Pipe> pipe;
  serve([this] {
    const auto listener = server.listen(server_host.address(kPort));
    const Connection side = accept();
    server.expect(RDMA_CM_EVENT_REJECTED);
  });
  ask([&] {
    id = client.resolve(server_host.address(kPort));
    pipe = std::make_unique<Pipe>(*id);
    const rdma_conn_param param = parameters("");
    EXPECT_TRUE(id->connect(&param));
    client_host.spawn("clean up", [&] { pipe.reset(); });
    EXPECT_TRUE(client_host.sleep(1ms));
    client.expect(RDMA_CM_EVENT_CONNECT_RESPONSE);
    id.reset();
  });

  run();
}

// Not shown 18: These reports are data races. Fibers of a simulated world take turns, so the
// simulator cannot show them. tests/threads checks the connection manager with ThreadSanitizer.
// https://github.com/ofiwg/libfabric/issues/10736
// https://github.com/ofiwg/libfabric/issues/6328

// Exhibit 19: A synchronous id consumed ESTABLISHED inside rdma_connect. Then the program migrated
// the id, and waited for that event on the new channel for ever.
// https://github.com/pmem/rpma/pull/101
TEST_F(Ordering, EstablishedDoesNotFollowAMigrationThatComesTooLate) {
  serve([this] {
    const auto listener = server.listen(server_host.address(kPort));
    const Connection side = accept();
    server.expect(RDMA_CM_EVENT_ESTABLISHED);
    (void)server.next();
  });
  ask([this] {
    const auto id =
        cm::Id::create_synchronous(client_host.transport(), RDMA_PS_TCP, nullptr).value();
    const sockaddr_storage peer = server_host.address(kPort).to_sockaddr();
    EXPECT_TRUE(id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&peer), kPatience));
    EXPECT_TRUE(id->resolve_route(kPatience));
    Pipe pipe(*id);
    const rdma_conn_param param = parameters("");
    EXPECT_TRUE(id->connect(&param));
    EXPECT_EQ(id->raw()->event->event, RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_TRUE(id->migrate(client.channel()));
    EXPECT_FALSE(client.next()) << "nothing ever comes";
  });

  EXPECT_THAT(run_into_hang(), HasSubstr("client/ask waits for an event on an event channel"));
}

// Exhibit 19: A corrected program migrates its id to a channel first, and connects then, so
// ESTABLISHED comes to that channel.
// https://github.com/pmem/rpma/pull/101
TEST_F(Ordering, EstablishedComesToTheChannelThatTheIdMigratedToBefore) {
  serve([this] {
    const auto listener = server.listen(server_host.address(kPort));
    const Connection side = accept();
    server.expect(RDMA_CM_EVENT_ESTABLISHED);
  });
  ask([this] {
    const auto id =
        cm::Id::create_synchronous(client_host.transport(), RDMA_PS_TCP, nullptr).value();
    const sockaddr_storage peer = server_host.address(kPort).to_sockaddr();
    EXPECT_TRUE(id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&peer), kPatience));
    EXPECT_TRUE(id->resolve_route(kPatience));
    Pipe pipe(*id);
    EXPECT_TRUE(id->migrate(client.channel()));
    const rdma_conn_param param = parameters("");
    EXPECT_TRUE(id->connect(&param));
    client.expect(RDMA_CM_EVENT_ESTABLISHED);
  });

  run();
}

// Exhibit 19: A program migrates an id while an event of its old channel is not acknowledged, so
// rdma_migrate_id waits for ever. The simulator's report names the event.
// https://github.com/RDMA-Rust/sideway/pull/115
// https://github.com/RDMA-Rust/sideway/pull/39
TEST_F(Ordering, AMigrationWaitsForTheEventsOfTheOldChannel) {
  ask([this] {
    Program other(client_host);
    const auto id = client.make_id();
    const sockaddr_storage peer = server_host.address(kPort).to_sockaddr();
    EXPECT_TRUE(id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&peer), kPatience));
    const std::optional<cm::Event> held = client.next();
    EXPECT_FALSE(id->migrate(other.channel()));
  });

  EXPECT_THAT(
      run_into_hang(),
      AllOf(HasSubstr("client/ask waits for the acknowledgement of the events of an id that "
                      "it migrates"),
            HasSubstr("ADDR_RESOLVED status 0, fetched")));
}

// Exhibit 19: A server waited at the listener's channel for ESTABLISHED of a new connection. That
// event goes to the channel to which the id has been migrated.
// https://github.com/pmem/rpma/pull/89
TEST_F(Ordering, EventsLeaveTheChannelTogetherWithTheirId) {
  Program worker(server_host);
  server_host.spawn("accept", [&] {
    const auto listener = server.listen(server_host.address(kPort));
    const Connection side = accept();
    EXPECT_TRUE(side.id->migrate(worker.channel()));
    EXPECT_FALSE(server.next()) << "nothing ever comes here";
    EXPECT_EQ(worker.channel().try_get()->type(), RDMA_CM_EVENT_ESTABLISHED);
  });
  ask([this] {
    const Connection side = connect();
    (void)client.next();
  });

  EXPECT_THAT(run_into_hang(), HasSubstr("server/accept waits for an event on an event channel"));
}

// Not shown 20: One of these bugs was in a service thread of rsockets, which anyrdma does not have:
// a thread that waits keeps its rsocket until the wait has ended. The other was in a
// descriptor behind rdma_resolve_addrinfo that stayed readable without an event. In anyrdma the
// channel's descriptor is readable only while an event is queued.
// https://github.com/linux-rdma/rdma-core/commit/0b10cda9a56f2d20785026f56aab21cd9955dd87
// https://github.com/linux-rdma/rdma-core/commit/7528827b749b5afc795dfd470c98d9381774d4b4

/// A queue pair that the program connects by itself, as transfer engines do.
class OwnQueuePair {
 public:
  OwnQueuePair(ibv_pd* pd, ibv_cq* cq) {
    ibv_qp_init_attr attr{};
    attr.qp_type = IBV_QPT_RC;
    attr.send_cq = attr.recv_cq = cq;
    attr.sq_sig_all = 1;
    attr.cap.max_send_wr = attr.cap.max_recv_wr = 1;
    qp_ = ibv_create_qp(pd, &attr);
    EXPECT_NE(qp_, nullptr);
  }
  ~OwnQueuePair() { EXPECT_EQ(ibv_destroy_qp(qp_), 0); }
  OwnQueuePair(const OwnQueuePair&) = delete;
  OwnQueuePair& operator=(const OwnQueuePair&) = delete;

  [[nodiscard]] std::uint32_t number() const { return qp_->qp_num; }
  void connect_to(const sim::Host& host, std::uint32_t number) {
    ibv_qp_attr attr{};
    attr.qp_state = IBV_QPS_INIT;
    attr.port_num = 1;
    move(attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
    attr.qp_state = IBV_QPS_RTR;
    attr.path_mtu = IBV_MTU_1024;
    attr.dest_qp_num = number;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.port_num = 1;
    attr.ah_attr.grh.hop_limit = 64;
    std::memcpy(&attr.ah_attr.grh.dgid, host.address().ip.data(), sizeof(ibv_gid));
    attr.min_rnr_timer = 12;
    move(attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                   IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
    attr.qp_state = IBV_QPS_RTS;
    attr.timeout = 14;
    attr.retry_cnt = attr.rnr_retry = 6;
    move(attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                   IBV_QP_MAX_QP_RD_ATOMIC);
  }
  void post_empty_receive() {
    ibv_recv_wr request{};
    ibv_recv_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_recv(qp_, &request, &bad), 0);
  }
  void post_empty_send() {
    ibv_send_wr request{};
    request.opcode = IBV_WR_SEND;
    ibv_send_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_send(qp_, &request, &bad), 0);
  }

 private:
  void move(ibv_qp_attr& attr, int mask) { EXPECT_EQ(ibv_modify_qp(qp_, &attr, mask), 0); }

  ibv_qp* qp_ = nullptr;
};

/// Two transfer engines that exchange the numbers of their queue pairs by messages.
class Handshake : public Ordering {
 protected:
  struct Message {
    std::uint32_t queue_pair = 0;
    std::uint32_t generation = 0;
  };
  enum class Engine { kTakesAnyReply, kChecksTheGeneration };

  /// The completion of a message over the queue pair that the handshake has configured.
  ibv_wc_status transfer(Engine engine) {
    ibv_wc_status status = IBV_WC_GENERAL_ERR;
    serve([this] { answer_twice(); });
    ask([&] { status = ask_twice(engine); });
    run();
    return status;
  }

 private:
  static void send(Pipe& pipe, const Message& message) {
    std::memcpy(pipe.buffer().data() + 512, &message, sizeof message);
    pipe.post(IBV_WR_SEND, 9, 512, sizeof message);
    EXPECT_EQ(pipe.wait_sent().status, IBV_WC_SUCCESS);
  }
  /// Receives are posted with their place in the buffer as number.
  static Message receive(Pipe& pipe) {
    const ibv_wc completion = pipe.wait_received();
    EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
    Message message;
    std::memcpy(&message, pipe.buffer().data() + completion.wr_id, sizeof message);
    return message;
  }

  void answer_twice() {
    const auto listener = server.listen(server_host.address(kPort));
    const auto id = server.expect_request();
    Pipe pipe(*id);
    for (const std::size_t at : {0u, 64u}) pipe.post_receive(at, at, 64);
    const rdma_conn_param param = parameters("");
    EXPECT_TRUE(id->accept(&param));
    server.expect(RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_TRUE(server_host.sleep(2s));  // so many clients
    OwnQueuePair first(id->qp()->pd, id->qp()->send_cq);
    OwnQueuePair second(id->qp()->pd, id->qp()->send_cq);
    for (OwnQueuePair* each : {&first, &second}) {
      const Message request = receive(pipe);
      each->connect_to(client_host, request.queue_pair);
      each->post_empty_receive();
      send(pipe, {each->number(), request.generation});
    }
    server.expect(RDMA_CM_EVENT_DISCONNECTED);
  }

  ibv_wc_status ask_twice(Engine engine) {
    const Connection control = connect();
    ibv_qp* const qp = control.id->qp();
    for (const std::size_t at : {0u, 64u}) control.pipe->post_receive(at, at, 64);
    std::optional<OwnQueuePair> data;
    for (const std::uint32_t generation : {1u, 2u}) {
      data.reset();
      data.emplace(qp->pd, qp->send_cq);
      send(*control.pipe, {data->number(), generation});
      if (generation == 2) break;
      EXPECT_TRUE(client_host.sleep(1s));  // no answer: rebuild
    }
    Message reply = receive(*control.pipe);
    if (engine == Engine::kChecksTheGeneration && reply.generation != 2) {
      reply = receive(*control.pipe);
    }
    data->connect_to(server_host, reply.queue_pair);
    EXPECT_TRUE(client_host.sleep(1s));
    data->post_empty_send();
    return control.pipe->wait_sent().status;
  }
};

// Exhibit 21: A late reply to a handshake that had been given up configured the queue pair of the
// next handshake. That handshake reported success, and every transfer ended with the retry counter
// exceeded.
// https://github.com/kvcache-ai/Mooncake/pull/3584
TEST_F(Handshake, AStaleReplyConfiguresTheNextGeneration) {
  EXPECT_EQ(transfer(Engine::kTakesAnyReply), IBV_WC_RETRY_EXC_ERR);
}

// Exhibit 21: A corrected engine numbers its handshakes, and ignores the late reply to an earlier
// one.
// https://github.com/kvcache-ai/Mooncake/pull/3584
TEST_F(Handshake, TheGenerationTellsAStaleReply) {
  EXPECT_EQ(transfer(Engine::kChecksTheGeneration), IBV_WC_SUCCESS);
}

}  // namespace
}  // namespace anyrdma::museum
