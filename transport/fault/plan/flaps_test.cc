#include "transport/fault/plan/flaps.h"

#include <gtest/gtest.h>

#include <string>

#include "transport/fault/plan/fault_json.h"
#include "transport/fault/plan/fault_plan.h"

namespace anyrdma::fault {
namespace {

Fault flap_in(const std::string& line) {
  return FaultPlan::parse(line).value().faults.at(0);
}

std::string lines_of(const std::string& line) {
  std::string text;
  for (const Fault& each : each_flap(flap_in(line))) text += to_string(each) + "\n";
  return text;
}

TEST(Flaps, AtATimeAreALineEach) {
  EXPECT_EQ(lines_of("maybe at 1s: flap server mlx5_0/1 200ms every 1s for 3s"),
            "maybe at 1s: port-down server mlx5_0/1 for 200ms\n"
            "maybe at 2s: port-down server mlx5_0/1 for 200ms\n"
            "maybe at 3s: port-down server mlx5_0/1 for 200ms\n");
}

TEST(Flaps, AreTenWithoutADuration) {
  EXPECT_EQ(each_flap(flap_in("at 0s: flap a b 1ms every 2ms")).size(), 10u);
}

TEST(Flaps, BeginInsideTheDuration) {
  EXPECT_EQ(each_flap(flap_in("at 0s: flap a b 1ms every 2ms for 4ms")).size(), 2u);
  EXPECT_EQ(each_flap(flap_in("at 0s: flap a b 1ms every 2ms for 4001us")).size(), 3u);
  EXPECT_EQ(each_flap(flap_in("at 0s: flap a b 1ms every 2ms for 1ns")).size(), 1u);
}

TEST(Flaps, OfATriggerAndOtherFaultsStayAsTheyAre) {
  const std::string flap = "on a call connect 1: flap a b 1ms every 2ms for 4ms\n";
  EXPECT_EQ(lines_of(flap), flap);
  EXPECT_EQ(lines_of("at 1s: crash a"), "at 1s: crash a\n");
}

TEST(Flaps, PrintAndReadBack) {
  const std::string text =
      "at 1s: flap server mlx5_0 200ms every 1s\n"
      "on server call connect 1: flap server mlx5_0/2 1us every 1500us for 1s\n"
      "at 0s: port-down server mlx5_0/2\n"
      "at 0s: device-event server mlx5_0/1 LID_CHANGE\n"
      "at 0s: slow-rail server rail1 5ms for 1s\n"
      "on client/rail1->* packet 1%: lose\n"
      "on *->server/rail0 REQ 1: lose\n";

  const auto plan = FaultPlan::parse(text);

  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_EQ(plan->to_string(), text);
  EXPECT_EQ(parse_json(to_json(*plan)).value(), *plan);
}

TEST(Flaps, ThatCannotBeAreRefused) {
  const auto refusal = [](const char* line) { return FaultPlan::parse(line).error().reason; };
  EXPECT_EQ(refusal("at 1s: flap a b 1s"), "'flap' is 'flap HOST DEVICE TIME every TIME'");
  EXPECT_EQ(refusal("at 1s: flap a b 2s every 1s"),
            "a port flaps for more than 0s each time, and less often than that");
  EXPECT_EQ(refusal("at 1s: flap a b 0s every 1s"),
            "a port flaps for more than 0s each time, and less often than that");
  EXPECT_EQ(refusal("at 1s: port-down a b/0"), "'0' is no number of a port: from 1");
  EXPECT_EQ(refusal("at 1s: port-down a b/x"), "'x' is no number of a port: from 1");
  EXPECT_EQ(refusal("on a/->b packet 1: lose"), "an interface of a host is HOST/INTERFACE");
  EXPECT_EQ(refusal("at 1s: slow-rail a b -1ms"),
            "'-1ms' is no time; write a number with ns, us, ms or s, whole nanoseconds");
}

}  // namespace
}  // namespace anyrdma::fault
