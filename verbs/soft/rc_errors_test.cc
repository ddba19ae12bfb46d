// What goes wrong on a reliable connection, and how both sides hear of it.
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "verbs/soft/rc_constants.h"
#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::ConnectionOptions;
using testing::Pair;
using testing::Side;
using namespace std::chrono_literals;

class RcErrors : public Pair {
 protected:
  // The statuses of all completions, in order.
  static std::vector<ibv_wc_status> statuses(Side& side) {
    std::vector<ibv_wc_status> all;
    for (const ibv_wc& wc : side.poll()) all.push_back(wc.status);
    return all;
  }
  // As next_timer(), for a side that this pair does not know; its packets are lost.
  bool next_timer_of(Side& side) {
    const auto deadline = side.hca->next_deadline();
    if (!deadline) return false;
    runtime.time = *deadline;
    side.hca->on_timer(runtime.time);
    while (side.hca->next_packet()) {
    }
    return true;
  }
  using Statuses = std::vector<ibv_wc_status>;
  using Events = std::vector<ibv_event_type>;
};

// --- receiver not ready -------------------------------------------------------------------------

TEST_F(RcErrors, ASendWaitsForAReceiveAsLongAsTheTimerSays) {
  connect();
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 10), 0);
  carry();
  EXPECT_EQ(b.hca->counters().rnr_naks_sent, 1u);
  EXPECT_EQ(a.hca->next_deadline(), runtime.time + 640us);
  EXPECT_TRUE(a.poll().empty());

  ASSERT_EQ(b.post_recv(2, 0, 10), 0);
  settle();

  EXPECT_EQ(runtime.time, Instant(640us));
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_SUCCESS});
  EXPECT_EQ(statuses(b), Statuses{IBV_WC_SUCCESS});
}

TEST_F(RcErrors, EveryRnrTimerValueWaitsItsTime) {
  for (std::uint8_t value = 0; value < 32; ++value) {
    const std::int64_t table[] = {655360, 10,    20,    30,     40,     60,     80,     120,
                                  160,    240,   320,   480,    640,    960,    1280,   1920,
                                  2560,   3840,  5120,  7680,   10240,  15360,  20480,  30720,
                                  40960,  61440, 81920, 122880, 163840, 245760, 327680, 491520};
    EXPECT_EQ(rnr_delay(value), std::chrono::microseconds(table[value]));
  }
}

TEST_F(RcErrors, RnrRetriesRunOutAfterTheirCount) {
  ConnectionOptions options;
  options.rnr_retry = 2;
  connect(options);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 10), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 2, 0, 10), 0);

  settle();

  EXPECT_EQ(statuses(a), (Statuses{IBV_WC_RNR_RETRY_EXC_ERR, IBV_WC_WR_FLUSH_ERR}));
  EXPECT_EQ(b.hca->counters().rnr_naks_sent, 3u);
  EXPECT_EQ(runtime.time, Instant(2 * 640us));
  EXPECT_EQ(a.qp->state, IBV_QPS_ERR);
}

TEST_F(RcErrors, RnrRetryZeroFailsAtOnce) {
  ConnectionOptions options;
  options.rnr_retry = 0;
  connect(options);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 10), 0);
  settle();
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_RNR_RETRY_EXC_ERR});
  EXPECT_EQ(runtime.time, Instant(0us));
}

TEST_F(RcErrors, RnrRetrySevenNeverGivesUp) {
  connect();
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 10), 0);
  for (int i = 0; i < 1000; ++i) {
    carry();
    ASSERT_TRUE(next_timer());
  }
  EXPECT_TRUE(a.poll().empty());
  ASSERT_EQ(b.post_recv(2, 0, 10), 0);
  settle();
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_SUCCESS});
}

TEST_F(RcErrors, AWriteWithImmediateWaitsForAReceiveToo) {
  connect();
  a.fill(0, 1000, 4);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE_WITH_IMM, 1, 0, 1000, &b, 5000), 0);
  carry();
  EXPECT_TRUE(a.poll().empty());
  ASSERT_EQ(b.post_recv(2, 0, 0), 0);
  settle();
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_SUCCESS});
  EXPECT_EQ(statuses(b), Statuses{IBV_WC_SUCCESS});
  EXPECT_TRUE(b.filled(5000, 1000, 4));
}

// --- no answer ----------------------------------------------------------------------------------

TEST_F(RcErrors, RetriesRunOutAfterExactlyTheirTime) {
  for (const int retries : {0, 1, 3, 7}) {
    ConnectionOptions options;
    options.retry_cnt = static_cast<std::uint8_t>(retries);
    options.timeout = 10;
    if (a.qp != nullptr) a.hca->destroy_qp(a.qp).value();
    if (b.qp != nullptr) b.hca->destroy_qp(b.qp).value();
    connect(options);
    int sent = 0;
    wire = [&sent](const Packet&) { return ++sent, 0; };
    const Instant start = runtime.time;
    ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 10, &b, 0, 0), 0);
    ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 2, 0, 10, &b, 0, 0), 0);

    settle();

    EXPECT_EQ(sent, 2 * (retries + 1));
    EXPECT_EQ(runtime.time - start, (retries + 1) * Duration(4096 << 10));
    const auto done = a.poll();
    ASSERT_EQ(done.size(), 2u);  // errors complete even what was not signaled
    EXPECT_EQ(done[0].status, IBV_WC_RETRY_EXC_ERR);
    EXPECT_EQ(done[0].wr_id, 1u);
    EXPECT_EQ(done[1].status, IBV_WC_WR_FLUSH_ERR);
  }
}

// The shortest timeout of the device, not that of the queue pair: nobody can come back.
TEST_F(RcErrors, APeerThatIsGoneForGoodIsGivenOneTimeout) {
  Side c(runtime, random, pool, 3, 0x300, {.min_ack_timeout = 10});
  c.memory.resize(10);
  c.mr = c.hca->reg_mr(c.pd, c.memory.data(), 10, 0, IBV_ACCESS_LOCAL_WRITE).value();
  const ConnectionOptions options;
  b.create_qp(options);
  c.create_qp(options);
  c.to_init(options);
  c.to_rtr(options, b);
  c.to_rts(options);
  const auto fail_all = [&] {
    const Instant from = runtime.time;
    while (next_timer_of(c)) {
    }
    return runtime.time - from;
  };
  ASSERT_EQ(c.post_send(IBV_WR_RDMA_WRITE, 1, 0, 0, &b, 0), 0);
  while (c.hca->next_packet()) {
  }
  c.hca->on_peers_gone(runtime.time, b.qp->qp_num ^ 0x10000, 0xff0000, {});  // others
  const ibv_gid elsewhere{{0xfd}};
  c.hca->on_peers_gone(runtime.time, b.qp->qp_num & 0xff0000, 0xff0000, {&elsewhere, 1});
  EXPECT_EQ(c.hca->next_deadline(), runtime.time + Duration(4096 << 14));
  c.hca->on_peers_gone(runtime.time, b.qp->qp_num & 0xff0000, 0xff0000, {});
  EXPECT_EQ(fail_all(), Duration(4096 << 10));
  EXPECT_EQ(statuses(c), Statuses{IBV_WC_RETRY_EXC_ERR});
}

TEST_F(RcErrors, ProgressGivesTheRetriesBack) {
  ConnectionOptions options;
  options.retry_cnt = 1;
  connect(options);
  // Every second transmission is lost: each packet needs its one retry.
  int count = 0;
  wire = [&count](const Packet& packet) {
    return roce::kOpcodes[packet.storage[0]].operation == roce::Operation::kWrite
               ? (++count % 2 == 0 ? 1 : 0)
               : 1;
  };
  for (std::uint64_t i = 0; i < 10; ++i) {
    ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, i, 0, 10, &b, 0), 0);
    settle();
  }
  EXPECT_EQ(statuses(a), Statuses(10, IBV_WC_SUCCESS));
}

TEST_F(RcErrors, ADeviceMayLengthenShortTimeouts) {
  for (const auto& [asked, taken] : {std::pair{10, 12}, std::pair{14, 14}}) {
    Side c(runtime, random, pool, 3, 0x300, {.min_ack_timeout = 12});
    c.memory.resize(10);
    c.mr = c.hca
               ->reg_mr(c.pd, c.memory.data(), c.memory.size(),
                        reinterpret_cast<std::uintptr_t>(c.memory.data()), 0)
               .value();
    ConnectionOptions options;
    options.timeout = static_cast<std::uint8_t>(asked);
    b.create_qp(options);
    c.create_qp(options);
    c.to_init(options);
    c.to_rtr(options, b);
    c.to_rts(options);

    ASSERT_EQ(c.post_send(IBV_WR_RDMA_WRITE, 1, 0, 10, &b, 0), 0);
    EXPECT_TRUE(c.hca->next_packet());

    EXPECT_EQ(c.hca->next_deadline(), runtime.time + Duration(4096 << taken));
    b.hca->destroy_qp(b.qp).value();
    b.qp = nullptr;
  }
}

TEST_F(RcErrors, TimeoutZeroWaitsForEver) {
  ConnectionOptions options;
  options.timeout = 0;
  connect(options);
  wire = [](const Packet&) { return 0; };
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 10, &b, 0), 0);
  settle();
  EXPECT_TRUE(a.poll().empty());
  EXPECT_EQ(a.hca->next_deadline(), std::nullopt);
}

TEST_F(RcErrors, APeerInErrorDoesNotAnswer) {
  connect();
  ASSERT_EQ(b.modify(IBV_QPS_ERR, 0, {}), 0);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 10, &b, 0), 0);
  settle();
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_RETRY_EXC_ERR});
}

// --- keys, bounds, rights -----------------------------------------------------------------------

struct BadRemote {
  const char* name;
  ibv_wr_opcode opcode;
  std::int64_t shift;  // of the remote address, from the region's start
  std::uint32_t length;
  std::uint32_t flip;  // bits of the remote key
};

class RemoteAccess : public RcErrors, public ::testing::WithParamInterface<BadRemote> {};

TEST_P(RemoteAccess, IsRefusedAndBothSidesKnow) {
  connect();
  ASSERT_EQ(b.post_recv(5, 0, 10), 0);
  const BadRemote bad = GetParam();
  ibv_sge sge = a.piece(0, bad.length);
  ibv_send_wr request{};
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = bad.opcode;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma.remote_addr = b.piece(0, 0).addr + static_cast<std::uint64_t>(bad.shift);
  request.wr.rdma.rkey = b.mr->rkey ^ bad.flip;
  ibv_send_wr* first_bad = nullptr;
  b.fill(0, kMemory, 1);
  ASSERT_EQ(ibv_post_send(a.qp, &request, &first_bad), 0);

  settle();

  EXPECT_EQ(statuses(a), Statuses{IBV_WC_REM_ACCESS_ERR});
  EXPECT_EQ(statuses(b), Statuses{IBV_WC_WR_FLUSH_ERR});
  EXPECT_EQ(b.events(), Events{IBV_EVENT_QP_ACCESS_ERR});
  EXPECT_EQ(b.qp->state, IBV_QPS_ERR);
  EXPECT_TRUE(b.filled(0, kMemory, 1));
}

constexpr std::int64_t kEnd = std::int64_t{256} * 1024;
INSTANTIATE_TEST_SUITE_P(
    RcErrors, RemoteAccess,
    ::testing::Values(BadRemote{"WriteBefore", IBV_WR_RDMA_WRITE, -1, 10, 0},
                      BadRemote{"WriteAcrossTheEnd", IBV_WR_RDMA_WRITE, kEnd - 9, 10, 0},
                      BadRemote{"WriteBeyond", IBV_WR_RDMA_WRITE, kEnd + 1, 1, 0},
                      BadRemote{"LongWriteAcrossTheEnd", IBV_WR_RDMA_WRITE, kEnd - 999, 1000, 0},
                      BadRemote{"WriteWithAnOldKey", IBV_WR_RDMA_WRITE, 0, 10, 1},
                      BadRemote{"WriteWithANeighboursKey", IBV_WR_RDMA_WRITE, 0, 10, 0x300},
                      BadRemote{"WriteWithAWildKey", IBV_WR_RDMA_WRITE, 0, 10, 0x80000000},
                      BadRemote{"ReadBefore", IBV_WR_RDMA_READ, -1, 10, 0},
                      BadRemote{"ReadAcrossTheEnd", IBV_WR_RDMA_READ, kEnd - 9, 10, 0},
                      BadRemote{"ReadWithAnOldKey", IBV_WR_RDMA_READ, 0, 10, 2}),
    [](const auto& param) { return param.param.name; });

// Of one packet, and of several of which the last one takes the receive.
TEST_F(RcErrors, AnImmediateWhoseWriteMayNotBeEndsTheReceiveThatItTakes) {
  for (const std::uint32_t length : {10u, 1000u}) {
    if (a.qp != nullptr) a.hca->destroy_qp(a.qp).value();
    if (b.qp != nullptr) b.hca->destroy_qp(b.qp).value();
    connect();
    ASSERT_EQ(b.post_recv(5, 0, 10), 0);
    ASSERT_EQ(b.post_recv(6, 0, 10), 0);
    ibv_mr* target = b.hca
                         ->reg_mr(b.pd, b.memory.data(), 1000, b.piece(0, 0).addr,
                                  IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE)
                         .value();
    std::swap(b.mr, target);
    ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE_WITH_IMM, 1, 0, length, &b, 0), 0);
    std::swap(b.mr, target);
    for (std::uint32_t whole = length / 256; whole > 0; --whole) ASSERT_TRUE(carry_one());
    b.hca->dereg_mr(target).value();
    settle();
    EXPECT_EQ(statuses(a), Statuses{IBV_WC_REM_ACCESS_ERR});
    EXPECT_EQ(statuses(b), (Statuses{IBV_WC_LOC_ACCESS_ERR, IBV_WC_WR_FLUSH_ERR}));
    EXPECT_EQ(b.events(), Events{});
    EXPECT_EQ(b.qp->state, IBV_QPS_ERR);
  }
}

TEST_F(RcErrors, ARegionWithoutRemoteRightsIsNotForThePeer) {
  connect();
  const auto start = reinterpret_cast<std::uintptr_t>(b.memory.data());
  ibv_mr* local = b.hca->reg_mr(b.pd, b.memory.data(), 100, start, IBV_ACCESS_LOCAL_WRITE).value();
  std::swap(b.mr, local);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 10, &b, 0), 0);
  std::swap(b.mr, local);
  settle();
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_REM_ACCESS_ERR});
  b.hca->dereg_mr(local).value();
}

TEST_F(RcErrors, ARegionOfAnotherDomainIsNotForThePeer) {
  connect();
  ibv_pd* other = b.hca->alloc_pd(b.context).value();
  const auto start = reinterpret_cast<std::uintptr_t>(b.memory.data());
  constexpr unsigned kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ;
  ibv_mr* foreign = b.hca->reg_mr(other, b.memory.data(), 100, start, kAll).value();
  std::swap(b.mr, foreign);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_READ, 1, 0, 10, &b, 0), 0);
  std::swap(b.mr, foreign);
  settle();
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_REM_ACCESS_ERR});
  b.hca->dereg_mr(foreign).value();
  b.hca->dealloc_pd(other).value();
}

TEST_F(RcErrors, AnEmptyWriteHasNoKeyToCheck) {
  connect();
  ibv_send_wr request{};
  request.opcode = IBV_WR_RDMA_WRITE;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma.rkey = 0xdead;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(a.qp, &request, &bad), 0);
  settle();
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_SUCCESS});
}

TEST_F(RcErrors, AQueuePairThatAllowsNoWritesCallsThemInvalid) {
  ConnectionOptions options;
  options.access = IBV_ACCESS_REMOTE_READ;
  connect(options);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 10, &b, 0), 0);
  settle();
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_REM_INV_REQ_ERR});
  EXPECT_EQ(b.events(), Events{IBV_EVENT_QP_REQ_ERR});
}

TEST_F(RcErrors, AQueuePairThatAllowsNoReadsCallsThemInvalid) {
  ConnectionOptions options;
  options.access = 0;
  connect(options);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_READ, 1, 0, 10, &b, 0), 0);
  settle();
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_REM_INV_REQ_ERR});
}

TEST_F(RcErrors, MoreReadsThanAgreedAreInvalid) {
  ConnectionOptions options;
  options.max_rd_atomic = 4;
  options.max_dest_rd_atomic = 1;
  connect(options);
  for (std::uint64_t i = 0; i < 3; ++i)
    ASSERT_EQ(a.post_send(IBV_WR_RDMA_READ, i, 0, 5000, &b, 0), 0);
  // All requests arrive before the first response leaves.
  while (PacketPtr packet = a.hca->next_packet()) b.hca->on_packet(runtime.time, std::move(packet));
  settle();
  EXPECT_EQ(b.qp->state, IBV_QPS_ERR);
  EXPECT_NE(statuses(a).back(), IBV_WC_SUCCESS);
}

TEST_F(RcErrors, ReadsWithoutInitiatorDepthFailLocally) {
  ConnectionOptions options;
  options.max_rd_atomic = 0;
  connect(options);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_READ, 1, 0, 10, &b, 0), 0);
  settle();
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_LOC_QP_OP_ERR});
}

TEST_F(RcErrors, ALocalKeyThatIsWrongFailsAfterWhatWasBefore) {
  connect();
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 1000, &b, 0), 0);
  ibv_sge sge = a.piece(0, 10);
  sge.lkey ^= 1;
  ibv_send_wr request{};
  request.wr_id = 2;
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(a.qp, &request, &bad), 0);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 3, 0, 10, &b, 0), 0);

  settle();

  EXPECT_EQ(statuses(a), (Statuses{IBV_WC_SUCCESS, IBV_WC_LOC_PROT_ERR, IBV_WC_WR_FLUSH_ERR}));
  EXPECT_TRUE(b.poll().empty());
}

TEST_F(RcErrors, AReadIntoReadOnlyMemoryFailsLocally) {
  connect();
  const auto start = reinterpret_cast<std::uintptr_t>(a.memory.data());
  ibv_mr* read_only = a.hca->reg_mr(a.pd, a.memory.data(), 100, start, 0).value();
  std::swap(a.mr, read_only);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_READ, 1, 0, 10, &b, 0), 0);
  std::swap(a.mr, read_only);
  settle();
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_LOC_PROT_ERR});
  a.hca->dereg_mr(read_only).value();
}

// Linux's rxe asks the peer first: it hears of the remote mistake, and the peer's queue pair fails.
TEST_F(RcErrors, ALocalMistakeIsReportedBeforeTheRemoteOne) {
  connect();
  ibv_sge sge = a.piece(0, 10);
  sge.lkey ^= 1;
  ibv_send_wr request{};
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_READ;
  request.wr.rdma.remote_addr = b.piece(0, 0).addr;
  request.wr.rdma.rkey = b.mr->rkey ^ 1;
  ASSERT_EQ(a.post(request), 0);
  settle();
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_LOC_PROT_ERR});
  EXPECT_EQ(b.qp->state, IBV_QPS_RTS);
  EXPECT_EQ(b.events(), Events{});
}

TEST_F(RcErrors, MemoryDeregisteredUnderwayFailsTheRequest) {
  connect();
  const auto start = reinterpret_cast<std::uintptr_t>(a.memory.data());
  ibv_mr* mr = a.hca->reg_mr(a.pd, a.memory.data(), 100'000, start, 0).value();
  std::swap(a.mr, mr);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 100'000, &b, 0), 0);
  std::swap(a.mr, mr);
  ASSERT_TRUE(carry_one());  // the window is full, most of the message is still here
  a.hca->dereg_mr(mr).value();
  settle();
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_LOC_PROT_ERR});
}

TEST_F(RcErrors, ASendLongerThanTheReceiveFailsOnBothSides) {
  connect();
  ASSERT_EQ(b.post_recv(5, 0, 999), 0);
  ASSERT_EQ(b.post_recv(6, 0, 10), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 1000), 0);
  settle();
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_REM_INV_REQ_ERR});
  EXPECT_EQ(statuses(b), (Statuses{IBV_WC_LOC_LEN_ERR, IBV_WC_WR_FLUSH_ERR}));
}

TEST_F(RcErrors, AReceiveWithAWrongKeyIsARemoteOperationalError) {
  connect();
  ibv_sge sge = b.piece(0, 10);
  sge.lkey ^= 1;
  ibv_recv_wr request{};
  request.sg_list = &sge;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_recv(b.qp, &request, &bad), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 10), 0);
  settle();
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_REM_OP_ERR});
  EXPECT_EQ(statuses(b), Statuses{IBV_WC_LOC_PROT_ERR});
}

TEST_F(RcErrors, AnOldKeyStaysWrongWhenItsPlaceIsReused) {
  const auto start = reinterpret_cast<std::uintptr_t>(a.memory.data());
  std::uint32_t previous = 0;
  for (int i = 0; i < 300; ++i) {
    ibv_mr* mr = a.hca->reg_mr(a.pd, a.memory.data(), 10, start, 0).value();
    EXPECT_NE(mr->lkey, previous);
    EXPECT_NE(mr->lkey, 0u);
    previous = mr->lkey;
    a.hca->dereg_mr(mr).value();
  }
}

// --- posting ------------------------------------------------------------------------------------

TEST_F(RcErrors, SendsAreRefusedBeforeReadyToSend) {
  const ConnectionOptions options;
  b.create_qp(options);
  a.create_qp(options);
  EXPECT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 1), EINVAL);
  EXPECT_EQ(a.post_recv(1, 0, 1), EINVAL);
  a.to_init(options);
  EXPECT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 1), EINVAL);
  EXPECT_EQ(a.post_recv(1, 0, 1), 0);
  a.to_rtr(options, b);
  EXPECT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 1), EINVAL);
  a.to_rts(options);
  EXPECT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 1), 0);
}

TEST_F(RcErrors, AFullQueueRefusesWithEnomem) {
  ConnectionOptions options;
  options.cap.max_send_wr = 3;
  options.cap.max_recv_wr = 2;
  connect(options);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 1, &b, 0), 0);
  EXPECT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 1, &b, 0), ENOMEM);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(a.post_recv(1, 0, 1), 0);
  EXPECT_EQ(a.post_recv(1, 0, 1), ENOMEM);
  carry();
  EXPECT_EQ(a.poll().size(), 3u);
  EXPECT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 1, &b, 0), 0);
}

TEST_F(RcErrors, ABadRequestNamesItselfAndThoseBeforeItArePosted) {
  connect();
  ibv_send_wr second{};
  second.opcode = IBV_WR_TSO;
  ibv_send_wr first{};
  first.opcode = IBV_WR_RDMA_WRITE;
  first.send_flags = IBV_SEND_SIGNALED;
  first.next = &second;
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(a.qp, &first, &bad), EINVAL);
  EXPECT_EQ(bad, &second);
  settle();
  EXPECT_EQ(a.poll().size(), 1u);
}

TEST_F(RcErrors, TooManyElementsOrInlineBytesAreRefused) {
  connect();
  ibv_sge list[5] = {};
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND;
  request.sg_list = list;
  request.num_sge = 5;
  ibv_send_wr* bad = nullptr;
  EXPECT_EQ(ibv_post_send(a.qp, &request, &bad), EINVAL);
  EXPECT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 129, nullptr, 0, IBV_SEND_INLINE), EINVAL);
  EXPECT_EQ(a.post_send(IBV_WR_RDMA_READ, 1, 0, 1, &b, 0, IBV_SEND_INLINE), EINVAL);
}

TEST_F(RcErrors, InlineDataNeedsNoKeyAndMayChangeAfterPosting) {
  connect();
  ASSERT_EQ(b.post_recv(1, 0, 100), 0);
  a.fill(0, 100, 6);
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(a.memory.data()), 100, 0};
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND;
  request.sg_list = &sge;
  request.num_sge = 1;
  request.send_flags = IBV_SEND_INLINE;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(a.qp, &request, &bad), 0);
  a.fill(0, 100, 7);
  settle();
  EXPECT_TRUE(b.filled(0, 100, 6));
}

// --- endings ------------------------------------------------------------------------------------

TEST_F(RcErrors, ErrorFlushesBothQueuesInOrder) {
  connect();
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(a.post_recv(10 + i, 0, 1), 0);
  for (std::uint64_t i = 0; i < 3; ++i)
    ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, i, 0, 1, &b, 0, 0), 0);

  ASSERT_EQ(a.modify(IBV_QPS_ERR, 0, {}), 0);

  const auto done = a.poll();
  ASSERT_EQ(done.size(), 6u);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(done[i].status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(done[i].wr_id, i < 3 ? i : 10 + i - 3);
  }
  EXPECT_FALSE(carry_one());
}

TEST_F(RcErrors, WhatIsPostedInErrorIsFlushedAtOnce) {
  connect();
  ASSERT_EQ(a.modify(IBV_QPS_ERR, 0, {}), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 1), 0);
  ASSERT_EQ(a.post_recv(2, 0, 1), 0);
  EXPECT_EQ(statuses(a), (Statuses{IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR}));
}

TEST_F(RcErrors, ResetForgetsCompletions) {
  connect();
  ASSERT_EQ(a.post_recv(1, 0, 1), 0);
  ASSERT_EQ(a.modify(IBV_QPS_ERR, 0, {}), 0);
  ASSERT_EQ(a.modify(IBV_QPS_RESET, 0, {}), 0);
  EXPECT_TRUE(a.poll().empty());
  EXPECT_EQ(a.qp->state, IBV_QPS_RESET);
}

TEST_F(RcErrors, AQueuePairCanBeConnectedAgainAfterReset) {
  connect();
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 5000, &b, 0), 0);
  carry_one();
  const ConnectionOptions options;
  for (Side* side : {&a, &b}) ASSERT_EQ(side->modify(IBV_QPS_RESET, 0, {}), 0);
  carry();
  for (Side* side : {&a, &b}) side->to_init(options);
  a.to_rtr(options, b);
  b.to_rtr(options, a);
  a.to_rts(options);
  b.to_rts(options);
  a.fill(0, 5000, 3);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 5000, &b, 0), 0);
  settle();
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_SUCCESS});
  EXPECT_TRUE(b.filled(0, 5000, 3));
}

TEST_F(RcErrors, DrainingFinishesWhatWasStartedAndStartsNothing) {
  connect();
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 5000, &b, 0), 0);
  ASSERT_TRUE(carry_one());
  ibv_qp_attr attr{};
  attr.en_sqd_async_notify = 1;
  ASSERT_EQ(a.modify(IBV_QPS_SQD, IBV_QP_EN_SQD_ASYNC_NOTIFY, attr), 0);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 2, 0, 10, &b, 0), 0);
  settle();
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_SUCCESS});
  EXPECT_EQ(a.events(), Events{IBV_EVENT_SQ_DRAINED});

  ASSERT_EQ(a.modify(IBV_QPS_RTS, 0, {}), 0);
  settle();
  EXPECT_EQ(statuses(a), Statuses{IBV_WC_SUCCESS});
}

TEST_F(RcErrors, RemovalFlushesEverythingAndSilencesTheDevice) {
  connect();
  ASSERT_EQ(a.post_recv(1, 0, 1), 0);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 2, 0, 5000, &b, 0), 0);
  a.hca->remove();
  EXPECT_EQ(a.hca->next_packet(), nullptr);
  EXPECT_EQ(statuses(a), (Statuses{IBV_WC_WR_FLUSH_ERR, IBV_WC_WR_FLUSH_ERR}));
  EXPECT_EQ(a.events(), Events{IBV_EVENT_DEVICE_FATAL});
  EXPECT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 1), EIO);
  EXPECT_EQ(a.post_recv(1, 0, 1), EIO);
  EXPECT_EQ(statuses(a), Statuses{});  // what was refused does not complete
  ASSERT_EQ(b.post_send(IBV_WR_RDMA_WRITE, 2, 0, 10, &a, 0), 0);
  settle();
  EXPECT_EQ(statuses(b), Statuses{IBV_WC_RETRY_EXC_ERR});
}

}  // namespace
}  // namespace anyrdma::verbs::soft
