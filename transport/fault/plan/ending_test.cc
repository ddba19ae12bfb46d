#include "transport/fault/plan/ending.h"

#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "transport/fault/plan/fault_json.h"
#include "transport/fault/plan/fault_plan.h"

namespace anyrdma::fault {
namespace {

using namespace std::chrono_literals;

std::string refusal(const std::string& line) {
  const auto plan = FaultPlan::parse("# first\n" + line + "\n");
  return plan ? "taken" : plan.error().to_string();
}

TEST(Endings, PrintAndReadBack) {
  const std::string text =
      "between 100ms and 2s: crash server for 300ms\n"
      "maybe between 0s and 1us: pause server/rping#2/3 for 10ms to 5s\n"
      "at 1.234567s: pause server/rping\n"
      "on client call connect 1: cut client<->server for 1.5ms\n"
      "at 1s: slow server->* 5ms for 2s\n"
      "at 1s: resume server/rping\n";

  const auto plan = FaultPlan::parse(text);

  ASSERT_TRUE(plan) << plan.error().to_string();
  EXPECT_EQ(plan->faults[0], (Fault{BetweenTimes{100ms, 2s}, CrashHost{"server"}, false, 300ms}));
  EXPECT_EQ(plan->faults[1],
            (Fault{BetweenTimes{0s, 1us}, PauseHost{"server", "rping", 2, 3}, true, {10ms, 5s}}));
  EXPECT_EQ(plan->faults[2], (Fault{AtTime{1234567us}, PauseHost{"server", "rping"}}));
  EXPECT_EQ(plan->to_string(),
            "between 100ms and 2s: crash server for 300ms\n"
            "maybe between 0s and 1us: pause server/rping#2/3 for 10ms to 5s\n"
            "at 1.234567s: pause server/rping\n"
            "on client call connect 1: cut client<->server for 1500us\n"
            "at 1s: slow server->* 5ms for 2s\n"
            "at 1s: resume server/rping\n");
  EXPECT_EQ(FaultPlan::parse(plan->to_string()).value(), *plan);
  EXPECT_EQ(parse_json(to_json(*plan)).value(), *plan);
}

TEST(Endings, ThatCannotBeAreRefused) {
  EXPECT_EQ(refusal("at 1s: restart server for 1s"),
            "line 2: 'restart' has no end: 'for' goes with cut-rail, slow-rail, remove, port-down, "
            "flap, crash, "
            "pause, drift, add-address, fail-over, cut, clog, slow, slow-consumer");
  EXPECT_EQ(refusal("on client->server REQ 1: lose for 1s").substr(0, 25),
            "line 2: 'lose' has no end");
  EXPECT_EQ(refusal("at 1s: crash server for 0s"), "line 2: a duration must be longer than 0s");
  EXPECT_EQ(refusal("at 1s: crash server for -5ms"),
            "line 2: '-5ms' is no time; write a number with ns, us, ms or s, whole nanoseconds");
  EXPECT_EQ(refusal("at 1s: crash server for 2s to 1s"),
            "line 2: '2s to 1s' is in the wrong order: the shorter time comes first");
  EXPECT_EQ(refusal("at 1s: crash server for"),
            "line 2: how long it lasts is 'for TIME' or 'for TIME to TIME'");
  EXPECT_EQ(refusal("at 1s: crash for 1s"), "line 2: 'crash' lacks its host");
}

TEST(Windows, ThatCannotBeAreRefused) {
  EXPECT_EQ(refusal("between 2s and 100ms: crash server"),
            "line 2: a window ends after it begins, not 'between 2s and 100ms'");
  EXPECT_EQ(refusal("between 1s and 1s: crash server"),
            "line 2: a window ends after it begins, not 'between 1s and 1s'");
  EXPECT_EQ(refusal("between 1s, 2s: crash server"), "line 2: a window is 'between TIME and TIME'");
  EXPECT_EQ(refusal("between soon and 2s: crash server"),
            "line 2: 'soon' is no time; write a number with ns, us, ms or s, whole nanoseconds");
  EXPECT_EQ(refusal("between 1s and 2s: lose"),
            "line 2: 'lose' happens to a message or packet only");
}

TEST(Pauses, OfWhatIsNoThreadAreRefused) {
  EXPECT_EQ(refusal("at 1s: pause server/rping/0"), "line 2: '0' is no number of a thread: from 1");
  EXPECT_EQ(refusal("at 1s: pause server/rping/main"),
            "line 2: 'main' is no number of a thread: from 1");
  EXPECT_EQ(refusal("at 1s: pause server/"),
            "line 2: 'server/' names no program: HOST/PROGRAM, or HOST/PROGRAM#2");
}

TEST(EndingsAsJson, AreStringsOfTimes) {
  const auto refused = [](const std::string& value) {
    const auto plan = parse_json(R"({"faults": [{"when": {"on": "time", "time": "1s"}, )"
                                 R"("then": {"do": "crash", "host": "server"}, "for": )" +
                                 value + "}]}");
    return plan ? plan->to_string() : plan.error().to_string();
  };

  EXPECT_EQ(refused(R"("300ms")"), "at 1s: crash server for 300ms\n");
  EXPECT_EQ(refused("300"), "line 1: 'for' is a string");
  EXPECT_EQ(refused(R"("0s")"), "line 1: a duration must be longer than 0s");
}

TEST(Endings, OfWhatAnActionDoesAreActions) {
  EXPECT_EQ(ending_of(CrashHost{"a"}), FaultAction(RestartHost{"a"}));
  EXPECT_EQ(ending_of(PauseHost{"a", "b", 2, 3}), FaultAction(ResumeHost{"a", "b", 2, 3}));
  EXPECT_EQ(ending_of(CutPath{"a", "b", true}), FaultAction(MendPath{"a", "b", true}));
  EXPECT_EQ(ending_of(RemoveDevice{"a", "b"}), FaultAction(ReturnDevice{"a", "b"}));
  EXPECT_EQ(ending_of(LoseMessage{}), std::nullopt);
  EXPECT_TRUE(has_end(SlowPath{}));
  EXPECT_EQ(ending_of(SlowPath{}), std::nullopt);  // what was before is not in the plan
}

}  // namespace
}  // namespace anyrdma::fault
