#include "sim/fault_plan.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

namespace anyrdma::sim {
namespace {

using namespace std::chrono_literals;

TEST(FaultPlans, PrintOneLinePerFaultAndReadItBack) {
  const FaultPlan plan{{
      {OnRequest{"server", 2}, RejectRequest{28, {0x6e, 0x6f}}},
      {OnRequest{"", kAll}, RejectRequest{3, {}}},
      {OnMessage{"client", "server", CmMessage::kReq, 1}, LoseMessage{}},
      {OnMessage{"", "server", CmMessage::kDrep, kAll}, LoseMessage{}},
      {AtTime{1500ms}, RemoveDevice{"server", "anyrdma0"}},
      {OnMessage{"client", "", CmMessage::kRtu, 3}, ChangeAddress{"client", "eth1"}},
      {OnMessage{"server", "client", CmMessage::kSidrRep, 1}, LoseMessage{}},
  }};

  const std::string text = plan.to_string();

  EXPECT_EQ(text,
            "on server request 2: reject 28 6e6f\n"
            "on * request all: reject 3\n"
            "on client->server REQ 1: lose\n"
            "on *->server DREP all: lose\n"
            "at 1500ms: remove server anyrdma0\n"
            "on client->* RTU 3: fail-over client eth1\n"
            "on server->client SIDR_REP 1: lose\n");
  EXPECT_EQ(FaultPlan::parse(text).value(), plan);
}

TEST(FaultPlans, TimesAreExactToTheNanosecondInAnyUnit) {
  const auto time_of = [](const std::string& text) {
    const FaultPlan plan = FaultPlan::parse("at " + text + ": remove h d").value();
    return std::get<AtTime>(plan.faults.front().trigger).time;
  };

  EXPECT_EQ(time_of("1.5s"), 1500ms);
  EXPECT_EQ(time_of("0.000000001s"), 1ns);
  EXPECT_EQ(time_of("2.25us"), 2250ns);
  EXPECT_EQ(time_of("0ns"), 0ns);
}

TEST(FaultPlans, EmptyLinesAndCommentsMeanNothing) {
  const FaultPlan plan = FaultPlan::parse("\n# why\n   \n  at 1s: remove h d").value();

  EXPECT_EQ(plan.faults.size(), 1u);
}

struct Wrong {
  const char* text;
  std::size_t line;
  const char* reason;
};

class WrongPlan : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongPlan, IsRefusedWithItsLineAndTheReason) {
  const auto plan = FaultPlan::parse(GetParam().text);

  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().line, GetParam().line);
  EXPECT_EQ(plan.error().reason, GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongPlan,
    ::testing::Values(
        Wrong{"at 1s remove h d", 1, "expected 'TRIGGER: ACTION'"},
        Wrong{"at 1s: lose\n", 1, "only a message can be lost"},
        Wrong{"\n\nat 1x: remove h d", 3, "'1x' is no time: a number with ns, us, ms or s"},
        Wrong{"at s: remove h d", 1, "'s' is no time: a number with ns, us, ms or s"},
        Wrong{"at 1.2ns: remove h d", 1, "'1.2ns' is no time"},
        Wrong{"at 1.2.3s: remove h d", 1, "'1.2.3s' is no time"},
        Wrong{"at 99999999999s: remove h d", 1,
              "'99999999999s' is no time: a number with ns, us, ms or s"},
        Wrong{"on a->b REX 1: lose", 1, "no such message 'REX'"},
        Wrong{"on a->b REQ 0: lose", 1, "'0' is no occurrence: a number from 1, or all"},
        Wrong{"on a->b REQ -1: lose", 1, "'-1' is no occurrence: a number from 1, or all"},
        Wrong{"on ->b REQ 1: lose", 1, "a host is missing in '->b'; * means any"},
        Wrong{"on a requests 1: lose", 1, "expected 'request' or HOST->HOST"},
        Wrong{"when a: lose", 1,
              "no trigger: 'at TIME', 'on HOST->HOST MESSAGE N' or 'on HOST request N'"},
        Wrong{"at 1s: ", 1, "no action after the colon"},
        Wrong{"at 1s: explode", 1, "no such action 'explode'"},
        Wrong{"at 1s: remove h", 1, "'remove' needs a host and what of it"},
        Wrong{"on a->b REQ 1: lose it", 1, "'lose' stands alone"},
        Wrong{"on a->b REQ 1: reject 28", 1, "only a request can be rejected"},
        Wrong{"on a request 1: reject", 1, "expected 'reject REASON [HEX]'"},
        Wrong{"on a request 1: reject 256", 1, "'256' is no reject reason: 0 to 255"},
        Wrong{"on a request 1: reject 28 abc", 1, "'abc' has half a byte"},
        Wrong{"on a request 1: reject 28 zz", 1, "'zz' is not hexadecimal"}));

TEST(FaultPlans, RefuseMoreDataThanARejHolds) {
  const std::string data(std::size_t{149} * 2, 'a');

  const auto plan = FaultPlan::parse("on a request 1: reject 28 " + data);

  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().to_string(), "line 1: more than 148 bytes of private data");
}

TEST(FaultPlans, ThrowTheReasonWhenTheValueIsTaken) {
  EXPECT_THROW((void)FaultPlan::parse("nonsense").value(), std::invalid_argument);
}

}  // namespace
}  // namespace anyrdma::sim
