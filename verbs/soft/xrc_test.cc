// Extended connections: a sender, a receiver, and shared receive queues that messages name.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::ConnectionOptions;
using testing::Pair;
using testing::Side;

constexpr std::uint32_t kLong = 3 * 256 + 9;

ibv_xrcd* open_domain(ibv_context* context, int fd = -1, int flags = O_CREAT) {
  ibv_xrcd_init_attr attr{
      .comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS, .fd = fd, .oflags = flags};
  return ibv_open_xrcd(context, &attr);
}

class Extended : public Pair {
 protected:
  Extended() { domain = open_domain(b.context); }

  ~Extended() override {
    for (Side* side : {&a, &b}) {
      if (side->qp != nullptr) side->hca->destroy_qp(side->qp).value();
      side->qp = nullptr;
    }
    for (ibv_srq* queue : queues) b.hca->destroy_srq(queue).value();
    for (ibv_cq* cq : completions) b.hca->destroy_cq(cq).value();
    EXPECT_EQ(ibv_close_xrcd(domain), 0);
  }

  static ibv_srq_init_attr_ex queue_attributes(ibv_pd* pd, ibv_xrcd* xrcd, ibv_cq* cq) {
    ibv_srq_init_attr_ex init{};
    init.attr = {.max_wr = 8, .max_sge = 2, .srq_limit = 0};
    init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_XRCD |
                     IBV_SRQ_INIT_ATTR_CQ;
    init.srq_type = IBV_SRQT_XRC;
    init.pd = pd;
    init.xrcd = xrcd;
    init.cq = cq;
    return init;
  }

  /// Another shared receive queue of side b, with a completion queue of its own; its number.
  std::uint32_t add_queue(ibv_xrcd* xrcd = nullptr) {
    completions.push_back(b.hca->create_cq(b.context, 16, nullptr, nullptr, 0).value());
    auto init = queue_attributes(b.pd, xrcd != nullptr ? xrcd : domain, completions.back());
    queues.push_back(verbs_get_ctx(b.context)->create_srq_ex(b.context, &init));
    std::uint32_t number = 0;
    EXPECT_EQ(ibv_get_srq_num(queues.back(), &number), 0);
    return number;
  }

  static ibv_qp* make_receiver(Side& side, ibv_xrcd* xrcd) {
    ibv_qp_init_attr_ex init{};
    init.qp_type = IBV_QPT_XRC_RECV;
    init.comp_mask = IBV_QP_INIT_ATTR_XRCD;
    init.xrcd = xrcd;
    return verbs_get_ctx(side.context)->create_qp_ex(side.context, &init);
  }

  void connect_halves(ConnectionOptions options = {}) {
    ConnectionOptions sender = options;
    sender.type = IBV_QPT_XRC_SEND;
    ConnectionOptions receiver = options;
    receiver.type = IBV_QPT_XRC_RECV;
    a.create_qp(sender);
    b.qp = make_receiver(b, domain);
    ASSERT_NE(b.qp, nullptr);
    a.to_init(sender);
    b.to_init(receiver);
    a.to_rtr(sender, b);
    b.to_rtr(receiver, a);
    a.to_rts(sender);
    b.to_rts(receiver);
  }

  int post_to(std::size_t queue, std::uint64_t id, std::uint32_t length) {
    ibv_sge sge = b.piece(0, length);
    ibv_recv_wr request{};
    request.wr_id = id;
    request.sg_list = &sge;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    return ibv_post_srq_recv(queues[queue], &request, &bad);
  }

  int send(std::uint32_t number, ibv_wr_opcode opcode, std::uint32_t length) {
    ibv_sge sge = a.piece(0, length);
    ibv_send_wr request{};
    request.wr_id = 77;
    request.sg_list = &sge;
    request.num_sge = 1;
    request.opcode = opcode;
    request.send_flags = IBV_SEND_SIGNALED;
    request.imm_data = htobe32(5);
    request.wr.rdma.remote_addr = b.piece(0, 0).addr;
    request.wr.rdma.rkey = b.mr->rkey;
    request.qp_type.xrc.remote_srqn = number;
    ibv_send_wr* bad = nullptr;
    return ibv_post_send(a.qp, &request, &bad);
  }

  std::vector<ibv_wc> poll(std::size_t queue) {
    std::vector<ibv_wc> all(16);
    const int got = ibv_poll_cq(completions[queue], 16, all.data());
    all.resize(static_cast<std::size_t>(got));
    return all;
  }

  void expect_sent(ibv_wc_status status) {
    const std::vector<ibv_wc> all = a.poll();
    ASSERT_EQ(all.size(), 1u);
    EXPECT_EQ(all[0].status, status);
  }

  ibv_xrcd* domain = nullptr;
  std::vector<ibv_srq*> queues;
  std::vector<ibv_cq*> completions;
};

TEST_F(Extended, AMessageGoesToTheQueueThatItNames) {
  const std::uint32_t numbers[] = {add_queue(), add_queue()};
  ASSERT_NE(numbers[0], numbers[1]);
  connect_halves();
  for (const std::size_t queue : {1u, 0u, 1u}) {
    for (const std::uint32_t length : {0u, 256u, kLong}) {
      a.fill(0, length, 3);
      ASSERT_EQ(post_to(queue, queue + 5, kLong), 0);
      ASSERT_EQ(send(numbers[queue], IBV_WR_SEND, length), 0);
      carry();
      expect_sent(IBV_WC_SUCCESS);
      const std::vector<ibv_wc> received = poll(queue);
      ASSERT_EQ(received.size(), 1u);
      EXPECT_EQ(received[0].wr_id, queue + 5);
      EXPECT_EQ(received[0].byte_len, length);
      EXPECT_EQ(received[0].qp_num, b.qp->qp_num);
      EXPECT_EQ(received[0].src_qp, a.qp->qp_num);
      EXPECT_TRUE(b.filled(0, length, 3));
    }
  }
  EXPECT_TRUE(poll(0).empty());
  EXPECT_TRUE(b.poll().empty());
}

TEST_F(Extended, RequestsNameTheQueueOnTheWireAndAnswersDoNot) {
  const std::uint32_t number = add_queue();
  connect_halves();
  wire = [number](const Packet& packet) {
    const roce::Decoded decoded = roce::decode(packet.payload());
    EXPECT_EQ(decoded.error, roce::DecodeError::kNone);
    EXPECT_EQ(row_of(packet).service, roce::Service::kXrc);
    const bool answer = row_of(packet).operation == roce::Operation::kAcknowledge ||
                        row_of(packet).operation == roce::Operation::kReadResponse;
    EXPECT_EQ(decoded.headers.xrc_srq, answer ? 0 : number);
    return 1;
  };
  ASSERT_EQ(send(number, IBV_WR_RDMA_WRITE, kLong), 0);
  ASSERT_EQ(send(number, IBV_WR_RDMA_READ, kLong), 0);
  carry();
  EXPECT_EQ(carried, 4u + 1 + 1 + 4);
}

TEST_F(Extended, WritesAndReadsReachMemoryOfTheQueuesDomain) {
  const std::uint32_t number = add_queue();
  connect_halves();
  a.fill(0, kLong, 3);
  ASSERT_EQ(send(number, IBV_WR_RDMA_WRITE, kLong), 0);
  carry();
  expect_sent(IBV_WC_SUCCESS);
  EXPECT_TRUE(b.filled(0, kLong, 3));
  b.fill(0, kLong, 8);
  ASSERT_EQ(send(number, IBV_WR_RDMA_READ, kLong), 0);
  carry();
  expect_sent(IBV_WC_SUCCESS);
  EXPECT_TRUE(a.filled(0, kLong, 8));
}

TEST_F(Extended, AWriteWithImmediateTakesAReceiveOfTheQueue) {
  const std::uint32_t number = add_queue();
  connect_halves();
  ASSERT_EQ(post_to(0, 9, 0), 0);
  ASSERT_EQ(send(number, IBV_WR_RDMA_WRITE_WITH_IMM, kLong), 0);
  carry();
  const std::vector<ibv_wc> received = poll(0);
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(received[0].imm_data, htobe32(5));
}

TEST_F(Extended, AnEmptyQueueAsksForPatience) {
  const std::uint32_t number = add_queue();
  connect_halves();
  ASSERT_EQ(send(number, IBV_WR_SEND, kLong), 0);
  carry();
  EXPECT_EQ(b.hca->counters().rnr_naks_sent, 1u);
  ASSERT_EQ(post_to(0, 9, kLong), 0);
  settle();
  expect_sent(IBV_WC_SUCCESS);
  EXPECT_EQ(poll(0).size(), 1u);
}

TEST_F(Extended, ALostPacketComesAgain) {
  const std::uint32_t number = add_queue();
  connect_halves();
  unsigned sent = 0;
  wire = [&sent](const Packet&) { return sent++ == 1 ? 0 : 1; };
  a.fill(0, kLong, 3);
  ASSERT_EQ(post_to(0, 9, kLong), 0);
  ASSERT_EQ(send(number, IBV_WR_SEND, kLong), 0);
  settle();
  expect_sent(IBV_WC_SUCCESS);
  EXPECT_TRUE(b.filled(0, kLong, 3));
}

TEST_F(Extended, AQueueThatIsNotThereIsAnInvalidRequest) {
  const std::uint32_t number = add_queue();
  for (const std::uint32_t wrong : {number + 1, 0u, 0xffffffu}) {
    connect_halves();
    ASSERT_EQ(send(wrong, IBV_WR_SEND, 10), 0);
    carry();
    expect_sent(IBV_WC_REM_INV_REQ_ERR);
    EXPECT_EQ(b.qp->state, IBV_QPS_ERR);
    const auto events = b.events();
    EXPECT_EQ(events.back(), IBV_EVENT_QP_REQ_ERR);
    for (Side* side : {&a, &b}) side->hca->destroy_qp(side->qp).value();
    a.qp = b.qp = nullptr;
  }
}

TEST_F(Extended, AQueueOfAnotherDomainIsAnInvalidRequest) {
  ibv_xrcd* other = open_domain(b.context);
  const std::uint32_t number = add_queue(other);
  connect_halves();
  ASSERT_EQ(post_to(0, 1, 64), 0);
  ASSERT_EQ(send(number, IBV_WR_SEND, 10), 0);
  carry();
  expect_sent(IBV_WC_REM_INV_REQ_ERR);
  EXPECT_TRUE(poll(0).empty());
  b.hca->destroy_srq(queues.back()).value();
  queues.pop_back();
  EXPECT_EQ(ibv_close_xrcd(other), 0);
}

TEST_F(Extended, AMessageThatChangesItsQueueOnTheWayIsAnInvalidRequest) {
  const std::uint32_t number = add_queue();
  const std::uint32_t other = add_queue();
  connect_halves();
  wire = [other](const Packet& packet) {
    if (row_of(packet).place != roce::Place::kMiddle) return 1;
    roce::put(const_cast<Packet&>(packet).payload(), packet.storage[0], roce::kXrcEth,
              roce::XrcEth{other});
    return 1;
  };
  ASSERT_EQ(post_to(0, 1, kLong), 0);
  ASSERT_EQ(send(number, IBV_WR_SEND, kLong), 0);
  carry();
  expect_sent(IBV_WC_REM_INV_REQ_ERR);
  const std::vector<ibv_wc> received = poll(0);
  ASSERT_EQ(received.size(), 1u);
  EXPECT_EQ(received[0].status, IBV_WC_LOC_QP_OP_ERR);
}

TEST_F(Extended, AQueueThatGoesInTheMiddleOfAMessageTakesTheConnectionWithIt) {
  const std::uint32_t number = add_queue();
  connect_halves();
  ASSERT_EQ(post_to(0, 1, kLong), 0);
  ASSERT_EQ(send(number, IBV_WR_SEND, kLong), 0);
  b.hca->on_packet(runtime.time, a.hca->next_packet());
  ASSERT_TRUE(b.hca->destroy_srq(queues.back()));
  queues.pop_back();
  carry();
  expect_sent(IBV_WC_REM_INV_REQ_ERR);
}

TEST_F(Extended, EachHalfDoesItsPartOnly) {
  add_queue();
  connect_halves();
  EXPECT_EQ(b.post_send(IBV_WR_SEND, 1, 0, 10), EINVAL);
  EXPECT_EQ(b.post_recv(1, 0, 10), EINVAL);
  EXPECT_EQ(a.post_recv(1, 0, 10), EINVAL);
  // A request to the half that sends.
  PacketPtr packet = pool.take();
  roce::Bth bth;
  bth.opcode = roce::kRcSendOnly | 0xa0;
  bth.destination = wire::Qpn{a.qp->qp_num};
  bth.psn = wire::Psn{b.first_psn};
  bth.serialize(std::span(packet->storage).first<roce::Bth::kBytes>());
  packet->size = 12 + 4 + 4;
  packet->source = b.gid;
  packet->destination = a.gid;
  a.hca->on_packet(runtime.time, std::move(packet));
  EXPECT_EQ(a.hca->counters().malformed, 1u);
}

TEST_F(Extended, TheLimitOfAQueueIsAnnounced) {
  const std::uint32_t number = add_queue();
  connect_halves();
  ASSERT_EQ(post_to(0, 1, 64), 0);
  ibv_srq_attr attr{.max_wr = 0, .max_sge = 0, .srq_limit = 1};
  ASSERT_TRUE(b.hca->modify_srq(queues[0], attr, IBV_SRQ_LIMIT));
  ASSERT_EQ(send(number, IBV_WR_SEND, 10), 0);
  carry();
  EXPECT_EQ(b.events().back(), IBV_EVENT_SRQ_LIMIT_REACHED);
}

// --- objects ------------------------------------------------------------------------------------

TEST_F(Extended, TheDomainOfAFileIsShared) {
  char name[] = "/tmp/xrc_test_XXXXXX";
  const int fd = mkstemp(name);
  ASSERT_GE(fd, 0);
  const int again = open(name, O_RDONLY);
  errno = 0;
  EXPECT_EQ(open_domain(b.context, fd, 0), nullptr);
  EXPECT_EQ(errno, EAGAIN);
  ibv_xrcd* first = open_domain(b.context, fd, O_CREAT | O_EXCL);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(open_domain(b.context, again, O_CREAT | O_EXCL), nullptr);
  EXPECT_EQ(errno, EINVAL);
  ibv_xrcd* second = open_domain(b.context, again, 0);
  ASSERT_NE(second, nullptr);

  // A queue of the one serves a connection of the other.
  ibv_xrcd* own = std::exchange(domain, second);
  const std::uint32_t number = add_queue(first);
  connect_halves();
  ASSERT_EQ(post_to(0, 1, 64), 0);
  ASSERT_EQ(send(number, IBV_WR_SEND, 10), 0);
  carry();
  expect_sent(IBV_WC_SUCCESS);

  EXPECT_EQ(ibv_close_xrcd(first), EBUSY);
  EXPECT_EQ(ibv_close_xrcd(second), EBUSY);
  b.hca->destroy_qp(std::exchange(b.qp, nullptr)).value();
  b.hca->destroy_srq(queues.back()).value();
  queues.clear();
  EXPECT_EQ(ibv_close_xrcd(first), 0);
  EXPECT_EQ(ibv_close_xrcd(second), 0);
  domain = own;
  close(fd);
  close(again);
  unlink(name);
}

TEST_F(Extended, BadDomainAttributesAreRefused) {
  ibv_xrcd_init_attr attr{.comp_mask = IBV_XRCD_INIT_ATTR_FD, .fd = -1, .oflags = O_CREAT};
  EXPECT_EQ(ibv_open_xrcd(b.context, &attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(open_domain(b.context, -1, 0), nullptr);
  EXPECT_EQ(errno, EAGAIN);
  EXPECT_EQ(open_domain(b.context, 9999), nullptr);
  EXPECT_EQ(errno, EBADF);
}

TEST_F(Extended, BadQueueAttributesAreRefused) {
  add_queue();
  const ibv_srq_init_attr_ex good = queue_attributes(b.pd, domain, completions[0]);
  const auto refused = [this](ibv_srq_init_attr_ex init) {
    errno = 0;
    EXPECT_EQ(verbs_get_ctx(b.context)->create_srq_ex(b.context, &init), nullptr);
    return errno;
  };
  for (const std::uint32_t bit : {IBV_SRQ_INIT_ATTR_TYPE, IBV_SRQ_INIT_ATTR_PD,
                                  IBV_SRQ_INIT_ATTR_XRCD, IBV_SRQ_INIT_ATTR_CQ}) {
    auto init = good;
    init.comp_mask &= ~bit;
    EXPECT_EQ(refused(init), EINVAL) << bit;
  }
  auto unknown = good;
  unknown.comp_mask |= 1u << 20;
  EXPECT_EQ(refused(unknown), EINVAL);
  auto tags = good;
  tags.srq_type = IBV_SRQT_TM;
  EXPECT_EQ(refused(tags), EOPNOTSUPP);
  auto deep = good;
  deep.attr.max_wr = 1 << 30;
  EXPECT_EQ(refused(deep), EINVAL);
  auto foreign = good;
  foreign.cq = a.cq;
  EXPECT_EQ(refused(foreign), ENOENT);
  EXPECT_EQ(b.hca->census().shared_receive_queues, 1u);
}

TEST_F(Extended, ABasicQueueHasNoNumber) {
  ibv_srq_init_attr_ex init = queue_attributes(b.pd, nullptr, nullptr);
  init.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
  init.srq_type = IBV_SRQT_BASIC;
  ibv_srq* srq = verbs_get_ctx(b.context)->create_srq_ex(b.context, &init);
  ASSERT_NE(srq, nullptr);
  std::uint32_t number = 0;
  EXPECT_EQ(ibv_get_srq_num(srq, &number), EINVAL);
  EXPECT_TRUE(b.hca->destroy_srq(srq));
}

TEST_F(Extended, NumbersComeBack) {
  const std::uint32_t first = add_queue();
  b.hca->destroy_srq(queues.back()).value();
  queues.pop_back();
  EXPECT_EQ(add_queue(), first);
}

TEST_F(Extended, BadQueuePairAttributesAreRefused) {
  const auto refused = [this](std::uint32_t mask, ibv_qp_type type) {
    ibv_qp_init_attr_ex init{};
    init.send_cq = init.recv_cq = b.cq;
    init.qp_type = type;
    init.comp_mask = mask;
    init.pd = b.pd;
    init.xrcd = domain;
    errno = 0;
    EXPECT_EQ(verbs_get_ctx(b.context)->create_qp_ex(b.context, &init), nullptr);
    return errno;
  };
  EXPECT_EQ(refused(IBV_QP_INIT_ATTR_PD, IBV_QPT_XRC_RECV), EINVAL);
  EXPECT_EQ(refused(0, IBV_QPT_XRC_RECV), EINVAL);
  EXPECT_EQ(refused(IBV_QP_INIT_ATTR_XRCD, IBV_QPT_RC), EINVAL);
  EXPECT_EQ(refused(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD, IBV_QPT_RC), EINVAL);
  EXPECT_EQ(refused(1u << 20, IBV_QPT_RC), EINVAL);
  EXPECT_EQ(refused(IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_RX_HASH, IBV_QPT_RC), EOPNOTSUPP);
  ibv_qp_init_attr plain{};
  plain.send_cq = plain.recv_cq = b.cq;
  plain.qp_type = IBV_QPT_XRC_RECV;
  EXPECT_EQ(b.hca->create_qp(b.pd, &plain).error().value(), EINVAL);
}

// --- several names of one queue pair ------------------------------------------------------------

class SharedQp : public Extended {
 protected:
  ibv_qp* open_name(ibv_xrcd* xrcd = nullptr) {
    ibv_qp_open_attr attr{};
    attr.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
    attr.qp_num = b.qp->qp_num;
    attr.xrcd = xrcd != nullptr ? xrcd : domain;
    attr.qp_type = IBV_QPT_XRC_RECV;
    return ibv_open_qp(b.context, &attr);
  }
};

TEST_F(SharedQp, AnotherNameModifiesAndQueriesTheSameOne) {
  connect_halves();
  ibv_qp* name = open_name();
  ASSERT_NE(name, nullptr);
  EXPECT_EQ(name->qp_num, b.qp->qp_num);
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  attr.qp_state = IBV_QPS_ERR;
  ASSERT_TRUE(b.hca->modify_qp(name, &attr, IBV_QP_STATE));
  EXPECT_EQ(b.qp->state, IBV_QPS_ERR);
  ASSERT_TRUE(b.hca->query_qp(name, &attr, IBV_QP_STATE, &init));
  EXPECT_EQ(attr.qp_state, IBV_QPS_ERR);
  EXPECT_EQ(init.qp_type, IBV_QPT_XRC_RECV);
  EXPECT_TRUE(b.hca->destroy_qp(name));
}

TEST_F(SharedQp, TheQueuePairEndsWithTheLastOfItsNames) {
  const std::uint32_t number = add_queue();
  connect_halves();
  ibv_qp* name = open_name();
  EXPECT_TRUE(b.hca->destroy_qp(std::exchange(b.qp, nullptr)));
  EXPECT_EQ(b.hca->census().queue_pairs, 1u);
  ASSERT_EQ(post_to(0, 1, 64), 0);
  ASSERT_EQ(send(number, IBV_WR_SEND, 10), 0);
  carry();
  expect_sent(IBV_WC_SUCCESS);
  EXPECT_TRUE(b.hca->destroy_qp(name));
  EXPECT_EQ(b.hca->census().queue_pairs, 0u);
}

TEST_F(SharedQp, EventsGoToEveryName) {
  connect_halves();
  ASSERT_TRUE(b.events().empty());
  ibv_qp* name = open_name();
  ASSERT_EQ(send(99, IBV_WR_SEND, 10), 0);
  carry();
  const std::vector<ibv_event_type> expected{IBV_EVENT_QP_REQ_ERR, IBV_EVENT_QP_REQ_ERR};
  EXPECT_EQ(b.events(), expected);
  EXPECT_TRUE(b.hca->destroy_qp(name));
}

TEST_F(SharedQp, OnlyTheDomainsOwnReceiversCanBeOpened) {
  connect_halves();
  ibv_xrcd* other = open_domain(b.context);
  errno = 0;
  EXPECT_EQ(open_name(other), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_close_xrcd(other), 0);
  ibv_qp_open_attr attr{};
  attr.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
  attr.qp_num = b.qp->qp_num + 1;
  attr.xrcd = domain;
  attr.qp_type = IBV_QPT_XRC_RECV;
  EXPECT_EQ(ibv_open_qp(b.context, &attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  attr.comp_mask = IBV_QP_OPEN_ATTR_NUM;
  EXPECT_EQ(ibv_open_qp(b.context, &attr), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(SharedQp, ANameOutlivesItsQueuePairAndSaysSo) {
  char file[] = "/tmp/xrc_test_XXXXXX";
  const int fd = mkstemp(file);
  ASSERT_GE(fd, 0);
  ibv_context* other = b.hca->open_device(b.hca->device()).value();
  ibv_xrcd* elsewhere = open_domain(other, fd);
  ibv_xrcd* here = open_domain(b.context, fd);
  ibv_qp_init_attr_ex init{};
  init.qp_type = IBV_QPT_XRC_RECV;
  init.comp_mask = IBV_QP_INIT_ATTR_XRCD;
  init.xrcd = elsewhere;
  b.qp = verbs_get_ctx(other)->create_qp_ex(other, &init);
  ASSERT_NE(b.qp, nullptr);
  ibv_qp* name = open_name(here);
  ASSERT_NE(name, nullptr);
  b.qp = nullptr;
  EXPECT_TRUE(b.hca->close_device(other));  // the queue pair goes with it

  ibv_qp_attr attr{};
  ibv_qp_init_attr ignored{};
  EXPECT_EQ(b.hca->query_qp(name, &attr, 0, &ignored).error().value(), EINVAL);
  attr.qp_state = IBV_QPS_ERR;
  EXPECT_EQ(b.hca->modify_qp(name, &attr, IBV_QP_STATE).error().value(), EINVAL);
  EXPECT_EQ(ibv_close_xrcd(here), EBUSY);
  EXPECT_TRUE(b.hca->destroy_qp(name));
  EXPECT_EQ(ibv_close_xrcd(here), 0);
  close(fd);
  unlink(file);
}

}  // namespace
}  // namespace anyrdma::verbs::soft
