#include "examples/scenario.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "sim/testing/audit.h"

namespace anyrdma::examples {
namespace {

TEST(Scenario, SameSeedGivesTheSameTraceAndAnotherSeedAnother) {
  const Outcome first = run_conversation(3, "", {});

  EXPECT_EQ(run_conversation(3, "", {}).trace, first.trace);
  EXPECT_EQ(run_conversation(3, "", {}).trace_hash, first.trace_hash);
  EXPECT_NE(run_conversation(4, "", {}).trace_hash, first.trace_hash);
}

TEST(Scenario, BothProgramsComeToTheEndOfTheirTalk) {
  const Outcome outcome = run_conversation(3, "", {});

  ASSERT_FALSE(outcome.diary.empty());
  EXPECT_EQ(outcome.diary.back().what, "id 1 DISCONNECTED");
  EXPECT_EQ(outcome.packets, 13u);
}

TEST(Scenario, FaultThatDidNotHappenIsNamed) {
  const sim::testing::Unaudited on_purpose;
  const Outcome outcome = run_conversation(3, "on server request 2: reject 28\n", {});

  EXPECT_EQ(outcome.unfired, std::vector<std::string>{"on server request 2: reject 28"});
}

TEST(Scenario, PlanThatMakesNoSenseIsRefused) {
  EXPECT_THROW((void)run_conversation(3, "on server request 1: explode\n", {}),
               std::invalid_argument);
  EXPECT_THROW((void)run_conversation(3, "at 1s: remove nobody anyrdma0\n", {}),
               std::invalid_argument);
}

}  // namespace
}  // namespace anyrdma::examples
