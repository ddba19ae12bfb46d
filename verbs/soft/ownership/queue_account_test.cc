#include "verbs/soft/ownership/queue_account.h"

#include <gtest/gtest.h>

namespace anyrdma::verbs::soft {
namespace {

TEST(SendAccount, AFullQueueWithoutASignaledRequestHasNoWayOut) {
  SendAccount account;
  account.set_depth(2);
  for (int i = 0; i < 2; ++i) (void)account.on_posted(false);
  EXPECT_FALSE(account.has_no_way_out(false));
  EXPECT_TRUE(account.has_no_way_out(true));
  EXPECT_FALSE(account.has_no_way_out(true)) << "it is told once";
}

TEST(SendAccount, ASignaledRequestIsAWayOut) {
  SendAccount account;
  account.set_depth(2);
  (void)account.on_posted(true);
  (void)account.on_posted(false);
  EXPECT_FALSE(account.has_no_way_out(true));
}

TEST(SendAccount, APolledCompletionFreesAllBeforeIt) {
  SendAccount account;
  account.set_depth(2);
  (void)account.on_posted(false);
  const std::size_t second = account.on_posted(true);
  account.on_polled(second);
  EXPECT_EQ(account.since_polled(), 0u);
  for (int i = 0; i < 2; ++i) (void)account.on_posted(false);
  EXPECT_FALSE(account.has_no_way_out(false));
  (void)account.on_posted(false);
  EXPECT_TRUE(account.has_no_way_out(false));
}

TEST(ReceiveAccount, EachDroughtIsToldOnceAndThreeAtMost) {
  ReceiveAccount account;
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(account.on_dry());
    EXPECT_FALSE(account.on_dry());
    account.on_posted();
  }
  EXPECT_FALSE(account.on_dry());
}

TEST(ReceiveAccount, TheLastReceivesAreKept) {
  ReceiveAccount account;
  EXPECT_EQ(account.last(0), std::nullopt);
  for (std::uint64_t i = 0; i < 6; ++i) account.on_used({.wr_id = i});
  EXPECT_EQ(account.count(), 6u);
  EXPECT_EQ(account.last(0)->wr_id, 5u);
  EXPECT_EQ(account.last(3)->wr_id, 2u);
  EXPECT_EQ(account.last(4), std::nullopt);
}

TEST(CompletionQueueAccount, AQueueIsTooSmallOnceMoreCanReportThanFit) {
  CompletionQueueAccount account;
  ibv_cq cq{};
  cq.cqe = 10;
  EXPECT_FALSE(account.on_attached(&cq, 10));
  EXPECT_TRUE(account.on_attached(&cq, 1));
  EXPECT_FALSE(account.on_attached(&cq, 1)) << "it is told once";
  EXPECT_EQ(account.most(cq), 12u);
  account.on_detached(&cq, 10);
  EXPECT_EQ(account.most(cq), 2u);
  account.on_closing(cq);
  EXPECT_EQ(account.most(cq), 0u);
}

TEST(CompletionQueueAccount, NoQueueAndNoDepthIsFine) {
  CompletionQueueAccount account;
  EXPECT_FALSE(account.on_attached(nullptr, 10));
  account.on_detached(nullptr, 10);
}

}  // namespace
}  // namespace anyrdma::verbs::soft
