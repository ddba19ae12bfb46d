#include "transport/fault/plan/fault_json.h"

#include <gtest/gtest.h>

#include <string>

namespace anyrdma::fault {
namespace {

TEST(FaultPlansAsJson, PrintOneLinePerFaultAndReadItBack) {
  const FaultPlan plan = FaultPlan::parse(
                             "on server request 2: reject 28 6e6f\n"
                             "maybe at 1500ms: return server anyrdma0 new-guid\n"
                             "on *->server REQ 12.5%: delay 1ms\n"
                             "on client#3 fetched ESTABLISHED all: cut client<->*\n"
                             "on server request 1: reject 28 31\n")
                             .value();

  const std::string text = to_json(plan);

  EXPECT_EQ(text,
            "{\"faults\": [\n"
            R"(  {"when":{"on":"request","host":"server","occurrence":2},)"
            R"("then":{"do":"reject","reason":28,"data":"6e6f"}},)"
            "\n"
            R"(  {"when":{"on":"time","time":"1500ms"},)"
            R"("then":{"do":"return","host":"server","device":"anyrdma0","guid":"new-guid"},)"
            R"("maybe":true},)"
            "\n"
            R"(  {"when":{"on":"message","path":"*->server","message":"REQ",)"
            R"("occurrence":"12.5%"},"then":{"do":"delay","by":"1ms"}},)"
            "\n"
            R"(  {"when":{"on":"fetched","host":"client#3","event":"ESTABLISHED",)"
            R"("occurrence":"all"},"then":{"do":"cut","path":"client<->*"}},)"
            "\n"
            R"(  {"when":{"on":"request","host":"server","occurrence":1},)"
            R"("then":{"do":"reject","reason":28,"data":"31"}})"
            "\n]}\n");
  EXPECT_EQ(parse_json(text).value(), plan);
}

TEST(FaultPlansAsJson, AnEmptyPlanIsOne) {
  EXPECT_EQ(parse_json(to_json({})).value(), FaultPlan());
}

struct Wrong {
  const char* text;
  std::size_t line;
  const char* reason;
};

class WrongJsonPlan : public ::testing::TestWithParam<Wrong> {};

TEST_P(WrongJsonPlan, IsRefusedWithItsLineAndTheReason) {
  const auto plan = parse_json(GetParam().text);

  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().line, GetParam().line);
  EXPECT_EQ(plan.error().reason, GetParam().reason);
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongJsonPlan,
    ::testing::Values(
        Wrong{"", 1, "not JSON: incomplete JSON"}, Wrong{"[]", 1, "a plan is an object"},
        Wrong{"{\"faults\": [],\n \"fault\": []}", 2, "unknown key 'fault'"},
        Wrong{"{}", 1, "key 'faults' is missing"},
        Wrong{"{\"faults\": {}}", 1, "'faults' is an array"},
        Wrong{"{\"faults\": [\n1]}", 2, "a fault is an object"},
        Wrong{"{\"faults\": [{\n\"when\": 1}]}", 2, "'when' is an object"},
        Wrong{"{\"faults\": [\n{\"when\": {\"on\": \"time\", \"time\": \"1s\"}}]}", 2,
              "key 'then' is missing"},
        Wrong{"{\"faults\": [{\"when\": {\"on\": \"time\",\n\"time\": \"1s\",\n\"tme\": 1}}]}", 3,
              "'time' takes no 'tme'"},
        Wrong{"{\"faults\": [{\"when\": {\"on\": \"time\",\n\"time\": 1},\n\"then\": {}}]}", 2,
              "'1' is no time; write a number with ns, us, ms or s, whole nanoseconds"},
        Wrong{"{\"faults\": [{\"when\": {\"on\": \"time\",\n\"time\": [1]}}]}", 2,
              "'time' is a string or a number"},
        Wrong{"{\"faults\": [{\"when\": {\"on\": \"time\",\n\"time\": \"1s\",\n\"time\": 1}}]}", 3,
              "key 'time' twice"},
        Wrong{"{\"faults\": [{\"when\":\n{\"on\": \"tuesday\"}}]}", 2, "no such trigger 'tuesday'"},
        Wrong{"{\"faults\": [{\"when\":\n{\"on\": 1}}]}", 2, "'on' is a string"},
        Wrong{"{\"faults\": [{\"when\":\n{\"at\": \"1s\"}}]}", 2, "key 'on' is missing"},
        Wrong{"{\"faults\": [\n{\"when\": {\"on\": \"time\", \"time\": \"1s\"},\n"
              "\"then\": {\"do\": \"lose\"}}]}",
              2, "'lose' happens to a message or packet only"},
        Wrong{"{\"faults\": [\n{\"when\": {\"on\": \"time\", \"time\": \"1s\"},\n"
              "\"then\": {\"do\": \"remove\", \"host\": \"h h\", \"device\": \"d\"}}]}",
              3, "'h h' is no name"},
        Wrong{
            "{\"faults\": [\n{\"when\": {\"on\": \"time\", \"time\": \"1s\"},\n"
            "\"then\": {\"do\": \"remove\", \"host\": \"h\", \"device\": \"d\"},\n\"maybe\": 1}]}",
            4, "'maybe' is true or false"},
        Wrong{"{\"faults\":\n[}", 2, "not JSON: syntax error"},
        Wrong{"{\"faults\":\n[]} {}", 2, "not JSON: extra data"},
        Wrong{"{\"faults\":\n[]}\n\n{}", 4, "not JSON: extra data"}));

TEST(FaultPlansAsJson, NestingWithoutEndIsRefused) {
  const auto plan = parse_json(std::string(100'000, '['));

  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().reason, "not JSON: too deep");
}

}  // namespace
}  // namespace anyrdma::fault
