// What a scenario's file says, and what is wrong with it.
#include "tools/scenario_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "sim/fault_plan.h"

namespace anyrdma::tools {
namespace {

using ::testing::HasSubstr;
using Kind = Expectation::Kind;

ProgramScenario scenario_of(const std::string& text) {
  auto scenario = parse_scenario("file", text);
  if (!scenario) ADD_FAILURE() << scenario.error().sentence;
  return scenario ? *scenario : ProgramScenario{};
}

TEST(ScenarioFile, ACommentBeginsWithAWord) {
  const ProgramScenario scenario = scenario_of(
      "# all of this\n"
      "host here 10.0.0.1  # and here\n"
      "on here true\n"
      "fault on here completion RECV 2: qp-error here#qp1 QP_FATAL # of the first one\n");

  EXPECT_EQ(scenario.hosts, std::vector<std::string>{"here=10.0.0.1"});
  const auto plan = sim::FaultPlan::parse(scenario.faults);
  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_EQ(plan->to_string(), "on here completion RECV 2: qp-error here#qp1 QP_FATAL\n");
}

TEST(ScenarioFile, ACommentDoesNotBeginInACommandsQuotes) {
  const ProgramScenario scenario = scenario_of(
      "host here 10.0.0.1\n"
      "on here sh -c 'echo # no; echo \"'  # yes, it isn't\n"
      "expect here/sh output it isn't  # so\n");

  ASSERT_EQ(scenario.programs.size(), 1u);
  EXPECT_EQ(scenario.programs.front().second, "sh -c 'echo # no; echo \"'");
  ASSERT_EQ(scenario.expectations.size(), 1u);
  EXPECT_EQ(scenario.expectations.front().text, "it isn't");
}

TEST(ScenarioFile, AMistakeInAPlanHasItsLineInTheFile) {
  const ProgramScenario scenario = scenario_of(
      "host here 10.0.0.1\n"
      "menu at 1s: crash here\n"
      "\n"
      "on here true\n"
      "menu at noon: crash here\n");

  const auto menu = sim::FaultPlan::parse(scenario.menu);
  ASSERT_FALSE(menu);
  EXPECT_THAT(menu.error().to_string(), HasSubstr("line 5: "));
}

TEST(ScenarioFile, WhatIsExpectedOfAnEnd) {
  const ProgramScenario scenario = scenario_of(
      "host here 10.0.0.1\n"
      "on here true\n"
      "expect here/true status 0 3\n"
      "expect here/true any status\n"
      "expect here/true any end\n"
      "expect here/true no output oops\n");

  ASSERT_EQ(scenario.expectations.size(), 4u);
  EXPECT_EQ(scenario.expectations[0].statuses, (std::vector<int>{0, 3}));
  EXPECT_EQ(scenario.expectations[1].kind, Kind::kAnyStatus);
  EXPECT_EQ(scenario.expectations[2].kind, Kind::kAnyEnd);
  EXPECT_EQ(scenario.expectations[3].kind, Kind::kNoOutput);
}

TEST(ScenarioFile, AMemoryIsAProfilesName) {
  EXPECT_EQ(scenario_of("host here 10.0.0.1\nmemory relaxed\non here true\n").memory, "relaxed");
  EXPECT_EQ(scenario_of("host here 10.0.0.1\non here true\n").memory, "");
}

TEST(ScenarioFile, WhatIsNotUnderstoodIsSaidWithItsLine) {
  const auto refusal = [](const std::string& line) {
    const auto scenario =
        parse_scenario("file", "host here 10.0.0.1\n" + line + "\non here true\n");
    return scenario ? "taken" : scenario.error().sentence;
  };

  EXPECT_THAT(refusal("expect here/true any"), HasSubstr("file:2: say 'status N...'"));
  EXPECT_THAT(refusal("expect true status 0"), HasSubstr("file:2: name a program as in"));
  EXPECT_THAT(refusal("limit soon"), HasSubstr("file:2: a limit is a time"));
  EXPECT_THAT(refusal("memory sparse"),
              HasSubstr("file:2: there is no memory 'sparse'. There are: strict, spec, relaxed"));
  EXPECT_THAT(refusal("off here true"), HasSubstr("file:2: 'off' is nothing a line begins with"));
}

}  // namespace
}  // namespace anyrdma::tools
