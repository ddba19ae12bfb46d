#include "verbs/soft/ownership/posting.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "verbs/soft/ownership/region_history.h"

namespace anyrdma::verbs::soft {
namespace {

std::vector<const Posting*> overlapping(const PostedRanges& ranges, const MemoryRange& range) {
  std::vector<const Posting*> found;
  ranges.find_overlapping(range, [&](const Posting& each) {
    found.push_back(&each);
    return false;
  });
  return found;
}

TEST(PostedRanges, WhoHasAByteOfARangeIsFound) {
  PostedRanges ranges;
  Posting first;
  Posting second;
  ranges.add({100, 200}, first);
  ranges.add({150, 160}, second);
  using testing::IsEmpty;
  using testing::UnorderedElementsAre;
  EXPECT_THAT(overlapping(ranges, {155, 156}), UnorderedElementsAre(&first, &second));
  EXPECT_THAT(overlapping(ranges, {199, 300}), UnorderedElementsAre(&first));
  EXPECT_THAT(overlapping(ranges, {0, 101}), UnorderedElementsAre(&first));
  EXPECT_THAT(overlapping(ranges, {0, 100}), IsEmpty());
  EXPECT_THAT(overlapping(ranges, {200, 201}), IsEmpty());
}

TEST(PostedRanges, OnlyTheRemovedOneOfEqualsIsGone) {
  PostedRanges ranges;
  Posting first;
  Posting second;
  ranges.add({0, 8}, first);
  ranges.add({0, 8}, second);
  ranges.remove({0, 8}, first);
  EXPECT_THAT(overlapping(ranges, {0, 8}), testing::ElementsAre(&second));
  ranges.remove({0, 8}, second);
  EXPECT_TRUE(ranges.empty());
}

TEST(RegionHistory, AKeyIsOverUntilItIsUsedAgain) {
  RegionHistory history;
  history.on_opened(0x101, 64, {});
  EXPECT_EQ(history.find_ended(0x101), nullptr);
  history.on_ended(0x101, "ibv_dereg_mr", {});
  ASSERT_NE(history.find_ended(0x101), nullptr);
  EXPECT_EQ(history.find_ended(0x101)->length, 64u);
  EXPECT_EQ(history.find_ended(0x101)->call, "ibv_dereg_mr");
  history.on_opened(0x101, 8, {});
  EXPECT_EQ(history.find_ended(0x101), nullptr);
}

TEST(RegionHistory, AKeyThatNeverWasIsNotOver) {
  RegionHistory history;
  history.on_ended(7, "ibv_dereg_mr", {});
  EXPECT_EQ(history.find_ended(7), nullptr);
}

TEST(RegionHistory, TheOldestAreForgotten) {
  RegionHistory history;
  for (std::uint32_t key = 0; key <= RegionHistory::kMost; ++key) {
    history.on_opened(key, 1, {});
    history.on_ended(key, "ibv_dereg_mr", {});
  }
  EXPECT_EQ(history.find_ended(0), nullptr);
  EXPECT_NE(history.find_ended(1), nullptr);
}

}  // namespace
}  // namespace anyrdma::verbs::soft
