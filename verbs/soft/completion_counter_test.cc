// What completion counters count.
#include "verbs/soft/completion_counter.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <utility>

#include "verbs/soft/testing/datagram_pair.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::ConnectionOptions;
using testing::DatagramPair;
using testing::Pair;
using testing::Side;

constexpr std::uint32_t bit(Counted operation) {
  return 1u << static_cast<unsigned>(operation);
}

class CompletionCounters : public Pair {
 protected:
  CompletionCounters() {
    a.create_qp({});
    b.create_qp({});
  }
  ~CompletionCounters() override {
    for (Side* side : {&a, &b}) {
      if (side->qp != nullptr) side->hca->destroy_qp(std::exchange(side->qp, nullptr)).value();
    }
  }

  static CompletionCounter* attach(Side& side, std::uint32_t operations, bool bytes = false) {
    CompletionCounter* const counter = create_counter(side.context, bytes).value();
    attach_counter(side.qp, counter, operations).value();
    return counter;
  }
  void join() {
    for (Side* side : {&a, &b}) side->to_init({});
    a.to_rtr({}, b);
    b.to_rtr({}, a);
    for (Side* side : {&a, &b}) side->to_rts({});
  }
  static std::uint64_t done(const CompletionCounter* counter) {
    return read_counter(counter, CounterValue::kDone).value();
  }
  static std::uint64_t failed(const CompletionCounter* counter) {
    return read_counter(counter, CounterValue::kFailed).value();
  }
};

TEST_F(CompletionCounters, CountEachKindOfOperationOnBothSides) {
  const CompletionCounter* const sends = attach(a, bit(Counted::kSend));
  const CompletionCounter* const reads = attach(a, bit(Counted::kRead), true);
  const CompletionCounter* const writes = attach(a, bit(Counted::kWrite), true);
  const CompletionCounter* const receives = attach(b, bit(Counted::kReceive), true);
  const CompletionCounter* const read = attach(b, bit(Counted::kRemoteRead));
  const CompletionCounter* const written = attach(b, bit(Counted::kRemoteWrite), true);
  join();
  ASSERT_EQ(b.post_recv(1, 0, 100), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 60, nullptr, 0, 0), 0) << "unsignaled";
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 2, 0, 1000, &b, 0), 0);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_READ, 3, 2000, 700, &b, 0), 0);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_READ, 4, 2000, 5, &b, 0), 0);
  settle();
  EXPECT_EQ(done(sends), 1u);
  EXPECT_EQ(done(writes), 1000u);
  EXPECT_EQ(done(reads), 705u);
  EXPECT_EQ(done(receives), 60u);
  EXPECT_EQ(done(read), 2u);
  EXPECT_EQ(done(written), 1000u);
  EXPECT_EQ(failed(sends) + failed(receives) + failed(written), 0u);
}

TEST_F(CompletionCounters, CountFailedAndFlushedRequestsApart) {
  const CompletionCounter* const all =
      attach(a, bit(Counted::kWrite) | bit(Counted::kReceive), true);
  join();
  ASSERT_EQ(a.post_recv(1, 0, 100), 0);
  ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 50, &b, 0), 0);
  settle();
  ibv_sge sge = a.piece(0, 10);
  ibv_send_wr bad{};
  bad.sg_list = &sge;
  bad.num_sge = 1;
  bad.opcode = IBV_WR_RDMA_WRITE;
  bad.wr.rdma = {.remote_addr = 0, .rkey = 1};
  ASSERT_EQ(a.post(bad), 0);
  settle();
  EXPECT_EQ(done(all), 50u);
  EXPECT_EQ(failed(all), 2u) << "the WRITE, and the receive that is flushed";
}

TEST_F(CompletionCounters, ARepeatedRequestIsCountedOnce) {
  const CompletionCounter* const read = attach(b, bit(Counted::kRemoteRead));
  const CompletionCounter* const written = attach(b, bit(Counted::kRemoteWrite));
  join();
  wire = [turn = 0u](const Packet&) mutable {
    turn = turn * 1103515245u + 12345u;
    return turn >> 29 == 0 ? 0 : 1;
  };
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 600, &b, 0), 0);
    ASSERT_EQ(a.post_send(IBV_WR_RDMA_READ, 2, 0, 600, &b, 0), 0);
  }
  settle();
  EXPECT_EQ(done(written), 5u);
  EXPECT_EQ(done(read), 5u);
}

TEST_F(CompletionCounters, AreAttachedBeforeTheQueuePairIsReady) {
  join();
  CompletionCounter* const late = create_counter(a.context, false).value();
  EXPECT_EQ(attach_counter(a.qp, late, 1).error().value(), EINVAL);
  CompletionCounter* const elsewhere = create_counter(b.context, false).value();
  ASSERT_EQ(a.modify(IBV_QPS_RESET, 0, {}), 0);
  EXPECT_EQ(attach_counter(a.qp, elsewhere, 1).error().value(), EINVAL) << "another device's";
  EXPECT_TRUE(attach_counter(a.qp, late, 1));
  destroy_counter(elsewhere).value();
}

TEST_F(CompletionCounters, OfADeviceAreLimited) {
  for (std::uint32_t i = 0; i < kCountersMost; ++i) ASSERT_TRUE(create_counter(a.context, false));
  EXPECT_EQ(create_counter(a.context, false).error().value(), ENOMEM);
}

class CountersOfDatagrams : public DatagramPair {};

TEST_F(CountersOfDatagrams, CountThem) {
  ASSERT_EQ(a.modify(IBV_QPS_RESET, 0, {}), 0);
  CompletionCounter* const counter = create_counter(a.context, false).value();
  attach_counter(a.qp, counter, bit(Counted::kSend)).value();
  to_rts(a, a.qp, kQueueKey);
  ASSERT_EQ(send(1, 10), 0);
  settle();
  EXPECT_EQ(read_counter(counter, CounterValue::kDone).value(), 1u);
  EXPECT_EQ(destroy_counter(counter).error().value(), EBUSY);
}

}  // namespace
}  // namespace anyrdma::verbs::soft
