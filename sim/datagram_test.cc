// Datagram services and groups of simulated hosts, through cm: from the question to the datagram.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "sim/testing/program.h"
#include "verbs/memory.h"

namespace anyrdma::sim::testing {
namespace {

constexpr std::uint32_t kBytes = 8;
constexpr std::uint32_t kWithHeader = kBytes + sizeof(ibv_grh);

/// A datagram id's queue pair, with one receive posted.
class Mailbox {
 public:
  explicit Mailbox(cm::Id& id) : id_(id) {
    ibv_qp_init_attr attr{};
    attr.qp_type = IBV_QPT_UD;
    attr.sq_sig_all = 1;
    attr.cap = {4, 4, 1, 1, 0};
    id.create_qp(nullptr, &attr).value();
    memory_ = verbs::MemoryRegion::create(id.qp()->pd, buffer_.data(), buffer_.size(),
                                          IBV_ACCESS_LOCAL_WRITE)
                  .value();
    ibv_sge piece = memory_.piece(0, kWithHeader);
    ibv_recv_wr request{.wr_id = 1, .next = nullptr, .sg_list = &piece, .num_sge = 1};
    ibv_recv_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_recv(id.qp(), &request, &bad), 0);
  }
  ~Mailbox() {
    if (to_ != nullptr) verbs::provider_of(id_.qp()->context).destroy_ah(to_).value();
    EXPECT_TRUE(id_.destroy_qp());
  }
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  void send(const rdma_ud_param& to, std::uint8_t byte) {
    to_ = verbs::provider_of(id_.qp()->context).create_ah(id_.qp()->pd, to.ah_attr).value();
    buffer_[kWithHeader] = byte;
    ibv_sge piece = memory_.piece(kWithHeader, kBytes);
    ibv_send_wr request{};
    request.sg_list = &piece;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND;
    request.wr.ud.ah = to_;
    request.wr.ud.remote_qpn = to.qp_num;
    request.wr.ud.remote_qkey = to.qkey;
    ibv_send_wr* bad = nullptr;
    EXPECT_EQ(ibv_post_send(id_.qp(), &request, &bad), 0);
    EXPECT_EQ(wait(id_.qp()->send_cq).status, IBV_WC_SUCCESS);
  }
  /// Waits for a datagram and gives its first byte.
  std::uint8_t receive() {
    const ibv_wc completion = wait(id_.qp()->recv_cq);
    EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
    EXPECT_EQ(completion.byte_len, kWithHeader);
    return buffer_[sizeof(ibv_grh)];
  }

 private:
  static ibv_wc wait(ibv_cq* cq) {
    ibv_wc completion{};
    while (ibv_poll_cq(cq, 1, &completion) == 0) continue;
    return completion;
  }

  cm::Id& id_;
  std::array<std::uint8_t, std::size_t{2} * kWithHeader> buffer_{};
  verbs::MemoryRegion memory_;
  ibv_ah* to_ = nullptr;
};

class SimulatedDatagrams : public ::testing::Test {
 protected:
  static std::unique_ptr<cm::Id> make_id(Program& program) {
    return cm::Id::create(program.channel(), RDMA_PS_UDP, nullptr).value();
  }
  static std::unique_ptr<cm::Id> bound(Program& program) {
    auto id = make_id(program);
    const sockaddr_storage local = program.host().address(kPort).to_sockaddr();
    id->bind(reinterpret_cast<const sockaddr*>(&local)).value();
    return id;
  }
  std::unique_ptr<cm::Id> routed() {
    auto id = make_id(client);
    const sockaddr_storage to = server_host.address(kPort).to_sockaddr();
    id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&to), kPatience).value();
    client.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
    id->resolve_route(kPatience).value();
    client.expect(RDMA_CM_EVENT_ROUTE_RESOLVED);
    return id;
  }
  static void join(cm::Id& id) {
    id.join_multicast(reinterpret_cast<const sockaddr*>(&kGroup), nullptr).value();
  }
  static inline const sockaddr_storage kGroup = Address::ipv4(0xef010203).to_sockaddr();

  World world{1};
  Host& client_host = world.add_host("client", {"10.0.0.1"});
  Host& server_host = world.add_host("server", {"10.0.0.2"});
  Program client{client_host};
  Program server{server_host};
};

TEST_F(SimulatedDatagrams, AnAnsweredQuestionTellsWhereToSend) {
  const auto listener = bound(server);
  listener->listen(1).value();
  const auto id = routed();
  Mailbox sender(*id);
  const rdma_conn_param question = parameters("who?");
  id->connect(&question).value();
  const auto child = server.expect_request();
  ASSERT_NE(child, nullptr);
  Mailbox receiver(*child);
  const rdma_conn_param answer = parameters("me");
  child->accept(&answer).value();

  const auto event = client.next();

  ASSERT_TRUE(event);
  ASSERT_EQ(event->type(), RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(event->ud().qp_num, child->qp()->qp_num);
  sender.send(event->ud(), 42);
  EXPECT_EQ(receiver.receive(), 42);
}

TEST_F(SimulatedDatagrams, NobodyListeningIsUnreachableWithThePeersStatus) {
  const auto id = routed();
  Mailbox sender(*id);
  const rdma_conn_param question = parameters("");
  id->connect(&question).value();

  EXPECT_EQ(client.expect(RDMA_CM_EVENT_UNREACHABLE).status, 1);
}

TEST_F(SimulatedDatagrams, AGroupIsReachedFromItsOtherMember) {
  const auto one = bound(client);
  const auto other = bound(server);
  Mailbox sender(*one);
  Mailbox receiver(*other);
  join(*other);
  server.expect(RDMA_CM_EVENT_MULTICAST_JOIN);
  join(*one);

  auto event = client.next();

  ASSERT_TRUE(event);
  ASSERT_EQ(event->type(), RDMA_CM_EVENT_MULTICAST_JOIN);
  EXPECT_EQ(event->ud().qp_num, 0xffffffu);
  sender.send(event->ud(), 7);
  EXPECT_EQ(receiver.receive(), 7);
  event.reset();
  for (cm::Id* id : {one.get(), other.get()}) {  // whose queue pair cannot be destroyed before
    EXPECT_TRUE(id->leave_multicast(reinterpret_cast<const sockaddr*>(&kGroup)));
  }
}

// The interface lost its address: no address handle can be built (kernel: cma_make_mc_event).
TEST_F(SimulatedDatagrams, AJoinFromAnAddressThatIsGoneIsAnError) {
  const auto id = bound(client);
  client_host.hca().set_gid(0, ibv_gid{});

  join(*id);

  EXPECT_EQ(client.expect(RDMA_CM_EVENT_MULTICAST_ERROR).status, 0);
  EXPECT_TRUE(id->leave_multicast(reinterpret_cast<const sockaddr*>(&kGroup)));
}

// librdmacm asks for the path when the event is fetched, and the device is gone by then.
TEST_F(SimulatedDatagrams, ARouteThatIsGoneWhenItsEventIsFetchedIsAnError) {
  const auto id = make_id(client);
  const sockaddr_storage to = server_host.address(kPort).to_sockaddr();
  id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&to), kPatience).value();
  client.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
  id->resolve_route(kPatience).value();

  client_host.devices().remove("anyrdma0").value();

  EXPECT_EQ(client.expect(RDMA_CM_EVENT_ROUTE_ERROR).status, -1);
  client.expect(RDMA_CM_EVENT_DEVICE_REMOVAL);
}

}  // namespace
}  // namespace anyrdma::sim::testing
