// What becomes of the objects that a program has left in a context it closes.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>

#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::FakeRandom;
using testing::FakeRuntime;
using testing::ipv4_gid;
using testing::Pair;

class CloseDevice : public Pair {
 protected:
  void close_b() {
    b.hca->close_device(b.context).value();
    b.qp = nullptr;
    b.mr = nullptr;
    open_b();
  }
  void open_b() {
    b.context = b.hca->open_device(b.hca->device()).value();
    b.pd = b.hca->alloc_pd(b.context).value();
    b.cq = b.hca->create_cq(b.context, 10, nullptr, nullptr, 0).value();
  }
};

TEST_F(CloseDevice, QueuePairIsGoneForItsPeer) {
  connect();
  close_b();

  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 10), 0);
  settle();

  const auto completions = a.poll();
  ASSERT_EQ(completions.size(), 1u);
  EXPECT_EQ(completions[0].status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_GT(b.hca->counters().unknown_qp, 0u);
}

TEST_F(CloseDevice, KeyOfItsMemoryStaysWrongAndOtherContextsLiveOn) {
  connect();
  ibv_context* const kept = b.context;
  ibv_pd* const kept_pd = b.pd;
  ibv_cq* const kept_cq = b.cq;
  open_b();
  ibv_mr* const left = b.hca->reg_mr(b.pd, b.memory.data(), 100, 0, IBV_ACCESS_LOCAL_WRITE).value();
  const std::uint32_t key = left->rkey;
  b.hca->close_device(b.context).value();
  b.context = kept;
  b.pd = kept_pd;
  b.cq = kept_cq;

  ibv_mr* const next = b.hca->reg_mr(b.pd, b.memory.data(), 100, 0, IBV_ACCESS_LOCAL_WRITE).value();

  EXPECT_EQ(next->rkey >> 8, key >> 8);  // its place is free,
  EXPECT_NE(next->rkey, key);            // and its key stays wrong
  b.hca->dereg_mr(next).value();
  ASSERT_EQ(b.post_recv(1, 0, 10), 0);  // the other context's objects live
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 1, 0, 10), 0);
  carry();
  EXPECT_EQ(b.poll().size(), 1u);
}

TEST_F(CloseDevice, QueuePairTakesNoQueueOfAnotherContext) {
  ibv_context* const other = b.hca->open_device(b.hca->device()).value();
  ibv_cq* const cq = b.hca->create_cq(other, 10, nullptr, nullptr, 0).value();
  ibv_qp_init_attr init{};
  init.qp_type = IBV_QPT_RC;
  init.send_cq = b.cq;
  init.recv_cq = cq;

  EXPECT_EQ(b.hca->create_qp(b.pd, &init).error().value(), ENOENT);

  b.hca->close_device(other).value();
}

// A device with room for one of each kind.
HcaConfig one_of_each() {
  HcaConfig config;
  config.max_pd = config.max_mr = config.max_cq = config.max_srq = config.max_qp = 1;
  config.max_ah = config.max_mcast_grp = config.max_mcast_qp_attach = 1;
  return config;
}

struct OneOfEach {
  ibv_pd* pd;
  ibv_mr* mr;
  ibv_comp_channel* channel;
  ibv_cq* cq;
  ibv_srq* srq;
  ibv_qp* qp;
  ibv_ah* ah;
};

OneOfEach make_one_of_each(Hca& hca, ibv_context* context) {
  static std::array<std::uint8_t, 10> memory;
  ibv_pd* pd = hca.alloc_pd(context).value();
  ibv_mr* mr = hca.reg_mr(pd, memory.data(), memory.size(), 0, 0).value();
  ibv_comp_channel* channel = hca.create_comp_channel(context).value();
  ibv_cq* cq = hca.create_cq(context, 10, nullptr, channel, 0).value();
  ibv_srq_init_attr shared{.srq_context = nullptr,
                           .attr = {.max_wr = 1, .max_sge = 1, .srq_limit = 0}};
  ibv_srq* srq = hca.create_srq(pd, &shared).value();
  ibv_qp_init_attr init{};
  init.qp_type = IBV_QPT_UD;
  init.send_cq = init.recv_cq = cq;
  init.srq = srq;
  ibv_qp* qp = hca.create_qp(pd, &init).value();
  ibv_gid group{};
  group.raw[0] = 0xff;
  hca.attach_mcast(qp, group, 0).value();
  ibv_ah_attr path{};
  path.is_global = 1;
  path.port_num = 1;
  path.grh.sgid_index = 1;
  path.grh.dgid = ipv4_gid(9);
  ibv_ah* ah = hca.create_ah(pd, path).value();
  return {pd, mr, channel, cq, srq, qp, ah};
}

TEST(CloseDeviceOfEachKind, LeavesRoomForTheNext) {
  FakeRuntime runtime;
  FakeRandom random;
  PacketPool pool;
  const auto hca = Hca::create(runtime, random, pool, one_of_each());
  hca->set_gid(1, ipv4_gid(1));

  for (int round = 0; round < 3; ++round) {
    ibv_context* context = hca->open_device(hca->device()).value();
    (void)make_one_of_each(*hca, context);
    hca->close_device(context).value();
  }
}

// As Python's collector does, which destroys in any order. Under AddressSanitizer this also finds
// memory that is gone.
TEST(CloseDeviceOfEachKind, WhatIsDestroyedAfterItsContextIsAnErrorAndHurtsNobody) {
  FakeRuntime runtime;
  FakeRandom random;
  PacketPool pool;
  const auto hca = Hca::create(runtime, random, pool, one_of_each());
  hca->set_gid(1, ipv4_gid(1));
  ibv_context* const context = hca->open_device(hca->device()).value();
  const OneOfEach gone = make_one_of_each(*hca, context);
  hca->close_device(context).value();
  ibv_context* const next = hca->open_device(hca->device()).value();
  const OneOfEach there = make_one_of_each(*hca, next);
  ::testing::internal::CaptureStderr();

  EXPECT_EQ(&provider_of(gone.cq->context), hca.get()) << "whose they are, they still show";
  EXPECT_EQ(hca->destroy_ah(gone.ah).error().value(), ENOENT);
  EXPECT_EQ(hca->dereg_mr(gone.mr).error().value(), ENOENT);
  EXPECT_EQ(hca->destroy_srq(gone.srq).error().value(), ENOENT);
  EXPECT_EQ(hca->destroy_cq(gone.cq).error().value(), ENOENT);
  EXPECT_EQ(hca->destroy_comp_channel(gone.channel).error().value(), EBADF);
  EXPECT_EQ(hca->dealloc_pd(gone.pd).error().value(), ENOENT);
  EXPECT_EQ(hca->close_device(context).error().value(), EBADF);

  (void)::testing::internal::GetCapturedStderr();  // the program's mistakes
  EXPECT_TRUE(hca->destroy_ah(there.ah));
  EXPECT_TRUE(hca->dereg_mr(there.mr));
  hca->close_device(next).value();
}

TEST(CloseDeviceOfEachKind, QueuePairsThatWereLeftAreUsedAgainLast) {
  FakeRuntime runtime;
  FakeRandom random;
  PacketPool pool;
  const auto hca = Hca::create(runtime, random, pool, {});
  hca->set_gid(1, ipv4_gid(1));
  ibv_context* const first = hca->open_device(hca->device()).value();
  ibv_context* const second = hca->open_device(hca->device()).value();
  const OneOfEach left = make_one_of_each(*hca, first);
  const OneOfEach kept = make_one_of_each(*hca, second);
  ibv_gid group{};
  group.raw[0] = 0xff;
  hca->detach_mcast(kept.qp, group, 0).value();
  hca->destroy_qp(kept.qp).value();
  hca->close_device(first).value();

  ibv_qp_init_attr init{};
  init.qp_type = IBV_QPT_RC;
  init.send_cq = init.recv_cq = kept.cq;
  ibv_qp* const next = hca->create_qp(kept.pd, &init).value();

  EXPECT_NE(next, left.qp) << "somebody may still destroy it";
  EXPECT_EQ(hca->destroy_qp(left.qp).error().value(), ENOENT);
  hca->close_device(second).value();
}

}  // namespace
}  // namespace anyrdma::verbs::soft
