#include "sim/explore/progress.h"

#include <gtest/gtest.h>

#include <chrono>

namespace anyrdma::sim {
namespace {

using namespace std::chrono_literals;

TEST(Progress, TellsHowFarItIsAndHowLongItTakes) {
  EXPECT_EQ(standing_text({.runs = 100, .total = 1000}, 2s, 0s),
            "100 of 1000 runs, 50/s, 18 s left, 0 failures");
  EXPECT_EQ(standing_text({.runs = 9, .total = 9009}, 3s, 0s),
            "9 of 9009 runs, 3.0/s, 50 min left, 0 failures");
  EXPECT_EQ(standing_text({.runs = 1, .total = 100'000}, 1s, 0s),
            "1 of 100000 runs, 1.0/s, 28 h left, 0 failures");
}

TEST(Progress, EndsWithItsBudgetAtTheLatest) {
  EXPECT_EQ(standing_text({.runs = 100, .total = 1'000'000}, 10s, 60s),
            "100 of 1000000 runs, 10/s, 50 s left, 0 failures");
  EXPECT_EQ(standing_text({.runs = 100, .total = 110}, 10s, 60s),
            "100 of 110 runs, 10/s, 1 s left, 0 failures");
}

TEST(Progress, BeforeTheFirstRunNobodyKnowsHowLongItTakes) {
  EXPECT_EQ(standing_text({.total = 7}, 0s, 0s), "0 of 7 runs, 0.0/s, 0 failures");
}

TEST(Progress, CountsFailuresAndSituations) {
  EXPECT_EQ(standing_text({.runs = 10, .total = 10, .failures = 3, .kinds = 1}, 1s, 0s),
            "10 of 10 runs, 10/s, 0 s left, 3 failures of 1 kind");
  EXPECT_EQ(
      standing_text(
          {.runs = 10, .total = 10, .failures = 1, .kinds = 1, .seen = 2, .situations = 5}, 1s, 0s),
      "10 of 10 runs, 10/s, 0 s left, 1 failure of 1 kind, 2 of 5 rare situations seen");
}

TEST(Progress, CountsFailuresThatAreNotLookedFor) {
  EXPECT_EQ(standing_text({.runs = 10, .total = 10, .others = 4}, 1s, 0s),
            "10 of 10 runs, 10/s, 0 s left, 0 failures, 4 others");
}

TEST(Progress, SaysHowSmallAFailureIsSoFar) {
  EXPECT_EQ(remains_text({.runs = 1, .faults = 1, .choices = 31}),
            "making it smaller: 1 run, 1 fault and 31 choices are left");
}

TEST(Progress, AFindSaysWhatFoundItAndWhen) {
  EXPECT_EQ(find_text("branching and pct", 12, std::chrono::milliseconds(3140)),
            "found by branching and pct in run 12 after 3.1 s");
}

}  // namespace
}  // namespace anyrdma::sim
