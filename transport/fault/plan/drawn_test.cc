#include "transport/fault/plan/drawn.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <set>
#include <string>

#include "transport/fault/plan/fault_plan.h"
#include "verbs/time.h"

namespace anyrdma::fault {
namespace {

using namespace std::chrono_literals;

/// Numbers that are spread evenly.
class Steps final : public verbs::Random {
 public:
  std::uint64_t next() override { return state_ += 0x9e3779b97f4a7c15; }

 private:
  std::uint64_t state_ = 0;
};

/// No number is wanted.
class None final : public verbs::Random {
 public:
  std::uint64_t next() override {
    ADD_FAILURE() << "a number was drawn";
    return 0;
  }
};

Fault fault_of(const std::string& line) {
  const auto plan = FaultPlan::parse(line + "\n");
  if (!plan) ADD_FAILURE() << plan.error().to_string();
  return plan ? plan->faults.front() : Fault{};
}

TEST(Drawn, AnInstantIsInTheWindowAndHasFewDigits) {
  const Fault fault = fault_of("maybe between 100ms and 2s: crash server for 300ms");
  Steps dice;
  std::set<verbs::Duration> instants;

  for (int i = 0; i < 1000; ++i) {
    const Fault drawn = resolved(fault, dice);
    const auto* at = std::get_if<AtTime>(&drawn.trigger);
    ASSERT_NE(at, nullptr);
    EXPECT_GE(at->time, 100ms);
    EXPECT_LT(at->time, 2s);
    EXPECT_EQ(at->time % 1us, 0ns);
    EXPECT_EQ(drawn.action, fault.action);
    EXPECT_EQ(drawn.lasts, Lasting(300ms));
    EXPECT_TRUE(drawn.maybe);
    EXPECT_FALSE(leaves_open(drawn));
    instants.insert(at->time);
  }

  EXPECT_GT(instants.size(), 900u);
  EXPECT_LT(*instants.begin(), 200ms);
  EXPECT_GT(*instants.rbegin(), 1900ms);
}

TEST(Drawn, AWindowOfNanosecondsHasItsInstants) {
  const Fault fault = fault_of("between 1ns and 3ns: crash server");
  Steps dice;
  std::set<verbs::Duration> instants;

  for (int i = 0; i < 100; ++i) {
    instants.insert(std::get<AtTime>(resolved(fault, dice).trigger).time);
  }

  EXPECT_EQ(instants, (std::set<verbs::Duration>{1ns, 2ns}));
}

TEST(Drawn, EachOrderOfMagnitudeOfADurationIsAsLikely) {
  const Fault fault = fault_of("on server request 1: pause server for 1ms to 10s");
  Steps dice;
  int shorter = 0;

  for (int i = 0; i < 1000; ++i) {
    const Fault drawn = resolved(fault, dice);
    EXPECT_EQ(drawn.trigger, fault.trigger);
    EXPECT_EQ(drawn.lasts.least, drawn.lasts.most);
    EXPECT_GE(drawn.lasts.least, 1ms);
    EXPECT_LE(drawn.lasts.least, 10s);
    shorter += drawn.lasts.least < 100ms ? 1 : 0;
  }

  EXPECT_GT(shorter, 400);
  EXPECT_LT(shorter, 600);
}

TEST(Drawn, WhatLeavesNothingOpenDrawsNothing) {
  None dice;
  for (const char* line : {"at 1s: crash server for 300ms", "on server request 1: reject 28"}) {
    EXPECT_FALSE(leaves_open(fault_of(line)));
    EXPECT_EQ(resolved(fault_of(line), dice), fault_of(line));
  }
}

TEST(Drawn, TheSameNumbersGiveTheSameText) {
  const Fault fault = fault_of("between 100ms and 2s: crash server for 10ms to 5s");
  Steps dice;

  EXPECT_EQ(to_string(resolved(fault, dice)), "at 1.274264s: crash server for 74ms");
}

}  // namespace
}  // namespace anyrdma::fault
