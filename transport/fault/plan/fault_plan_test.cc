#include "transport/fault/plan/fault_plan.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <map>
#include <string>

namespace anyrdma::fault {
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
      {OnPacket{"client", "server", Occurrence::each_with(5'000)}, CorruptMessage{}, true},
      {OnPacket{"", "", 7}, DelayMessage{2500us}},
      {OnMessage{"", "", CmMessage::kDreq, kAll}, DuplicateMessage{}},
      {OnRequest{"server", Occurrence::each_with(123'456)}, OverflowBacklog{}},
      {OnQueued{"client", 3, RDMA_CM_EVENT_ESTABLISHED, 1}, PortDown{"server", "anyrdma0"}},
      {OnFetched{"", 0, RDMA_CM_EVENT_REJECTED, kAll}, PortUp{"server", "anyrdma0"}},
      {OnCall{"client", 2, "connect", 1}, RemoveDevice{"server", "anyrdma0"}},
      {AtTime{1s}, ReturnDevice{"server", "anyrdma0", false}},
      {AtTime{1ns}, ReturnDevice{"server", "anyrdma0", true}},
      {AtTime{}, CutPath{"client", "server", false}},
      {AtTime{1us}, MendPath{"", "server", true}},
      {AtTime{}, SlowPath{"a-", "", true, 5ms}},
      {OnQueued{"server", 0, RDMA_CM_EVENT_CONNECT_REQUEST, 1}, HoldEvent{2s}},
      {OnCall{"client", 0, "reg_mr", kAll}, FailCall{{ENOMEM}}},
      {OnCompletion{"", {}, IBV_WC_SEND, 3}, CompleteWork{IBV_WC_RETRY_EXC_ERR}},
      {OnCompletion{"server", {.made = 2}, IBV_WC_RECV, 1}, CompleteWork{IBV_WC_LOC_LEN_ERR}},
      {OnCompletion{"server", {.made = 0, .number = 0x1a}, IBV_WC_RDMA_READ, 1},
       FailQueuePair{"client", {.made = 1}, IBV_EVENT_QP_ACCESS_ERR}},
      {AtTime{1s}, OverrunQueue{"server", {.made = 4}}},
      {AtTime{}, SlowConsumer{"client", 5ms}},
  }};

  const std::string text = plan.to_string();

  EXPECT_EQ(text,
            "on server request 2: reject 28 6e6f\n"
            "on * request all: reject 3\n"
            "on client->server REQ 1: lose\n"
            "on *->server DREP all: lose\n"
            "at 1500ms: remove server anyrdma0\n"
            "on client->* RTU 3: fail-over client eth1\n"
            "on server->client SIDR_REP 1: lose\n"
            "maybe on client->server packet 0.5%: corrupt\n"
            "on *->* packet 7: delay 2500us\n"
            "on *->* DREQ all: duplicate\n"
            "on server request 12.3456%: overflow\n"
            "on client#3 queued ESTABLISHED 1: port-down server anyrdma0\n"
            "on * fetched REJECTED all: port-up server anyrdma0\n"
            "on client#2 call connect 1: remove server anyrdma0\n"
            "at 1s: return server anyrdma0\n"
            "at 1ns: return server anyrdma0 new-guid\n"
            "at 0s: cut client->server\n"
            "at 1us: mend *<->server\n"
            "at 0s: slow a-<->* 5ms\n"
            "on server queued CONNECT_REQUEST 1: hold 2s\n"
            "on client call reg_mr all: fail ENOMEM\n"
            "on * completion SEND 3: complete RETRY_EXC_ERR\n"
            "on server#qp2 completion RECV 1: complete LOC_LEN_ERR\n"
            "on server#qp0x1a completion RDMA_READ 1: qp-error client#qp1 QP_ACCESS_ERR\n"
            "at 1s: cq-overrun server#cq4\n"
            "at 0s: slow-consumer client 5ms\n");
  EXPECT_EQ(FaultPlan::parse(text).value(), plan);
}

TEST(FaultPlans, PrintWhatHappensToHosts) {
  const FaultPlan plan{{
      {AtTime{1s}, CrashHost{"server"}},
      {AtTime{2s}, RestartHost{"server"}},
      {AtTime{3s}, PauseHost{"client"}},
      {AtTime{4s}, ResumeHost{"client"}},
      {AtTime{5s}, DriftClock{"client", -300}},
      {AtTime{6s}, AddAddress{"client", "eth0", "10.0.0.9/24"}},
      {AtTime{7s}, DropAddress{"client", "eth0", "2001:db8::9"}},
  }};

  const std::string text = plan.to_string();

  EXPECT_EQ(text,
            "at 1s: crash server\n"
            "at 2s: restart server\n"
            "at 3s: pause client\n"
            "at 4s: resume client\n"
            "at 5s: drift client -300\n"
            "at 6s: add-address client eth0 10.0.0.9/24\n"
            "at 7s: drop-address client eth0 2001:db8::9\n");
  EXPECT_EQ(FaultPlan::parse(text).value(), plan);
}

TEST(FaultPlans, PrintWhatHappensToTheConnectionManagersSurroundings) {
  const FaultPlan plan{{
      {OnResolving{"client", 2}, FailResolving{"EHOSTUNREACH"}},
      {OnState{"client", 3, "CONNECT", 1}, ClogPath{"client", "server", false}},
      {OnRequest{"server", kAll}, IgnoreRequest{}},
      {OnPacket{"client", "server", 4}, ReorderMessage{}},
  }};

  const std::string text = plan.to_string();

  EXPECT_EQ(text,
            "on client resolving 2: unresolved EHOSTUNREACH\n"
            "on client#3 state CONNECT 1: clog client->server\n"
            "on server request all: ignore\n"
            "on client->server packet 4: reorder\n");
  EXPECT_EQ(FaultPlan::parse(text).value(), plan);
}

TEST(FaultPlans, PrintWhatBecomesOfLinksNeighboursRoutesAndFields) {
  const FaultPlan plan{{
      {AtTime{1s}, RestoreAddress{"server", "eth0"}},
      {AtTime{2s}, ConfirmNeighbour{"client", "10.0.0.1"}},
      {AtTime{3s}, ForgetNeighbour{"client", "2001:db8::1"}},
      {AtTime{4s}, CutRail{"client", "eth1"}},
      {AtTime{5s}, MendRail{"client", "eth1"}},
      {OnRouting{"client", 1}, FailRouting{"ETIMEDOUT"}},
      {OnRequest{"server", 1}, PostponeRequest{22}},
      {OnMessage{"client", "server", CmMessage::kReq, 1}, AlterMessage{{"path_mtu"}, 6}},
  }};

  const std::string text = plan.to_string();

  EXPECT_EQ(text,
            "at 1s: fail-back server eth0\n"
            "at 2s: confirm-neighbour client 10.0.0.1\n"
            "at 3s: forget-neighbour client 2001:db8::1\n"
            "at 4s: cut-rail client eth1\n"
            "at 5s: mend-rail client eth1\n"
            "on client routing 1: unrouted ETIMEDOUT\n"
            "on server request 1: mra 22\n"
            "on client->server REQ 1: alter path_mtu 6\n");
  EXPECT_EQ(FaultPlan::parse(text).value(), plan);
}

TEST(FaultPlans, PrintWhoIsKilled) {
  const FaultPlan plan{{
      {AtTime{1s}, KillPrograms{"server"}},
      {AtTime{2s}, KillPrograms{"server", "rping"}},
      {AtTime{3s}, KillPrograms{"server", "rping", 2}},
  }};

  const std::string text = plan.to_string();

  EXPECT_EQ(text,
            "at 1s: kill server\n"
            "at 2s: kill server/rping\n"
            "at 3s: kill server/rping#2\n");
  EXPECT_EQ(FaultPlan::parse(text).value(), plan);
}

TEST(FaultPlans, RefuseWhatNoMessageNorRouteCanHave) {
  for (const auto& [line, reason] : std::map<std::string, std::string>{
           {"on server request 1: mra 32", "an MRA's time has five bits: at most 31"},
           {"on a->b packet 1: alter path_mtu 6", "'alter' happens to a CM message only"},
           {"on a->b REQ 1: alter Path 6", "'Path' is no field"},
           {"on a resolving 1: unrouted EIO",
            "'unrouted' happens to the resolution of a route only"},
           {"on a routing 1: unrouted ENOMEM", "no such error 'ENOMEM'"}}) {
    const auto plan = FaultPlan::parse(line + "\n");
    ASSERT_FALSE(plan) << line;
    EXPECT_EQ(plan.error().reason, reason);
  }
}

TEST(FaultPlans, AreBuiltFromPairsThatMakeSense) {
  const FaultPlan plan = FaultPlan()
                             .on(OnRequest{"server", 2}, RejectRequest{28, {}})
                             .maybe(AtTime{1s}, RemoveDevice{"server", "anyrdma0"});

  EXPECT_EQ(plan.to_string(),
            "on server request 2: reject 28\n"
            "maybe at 1s: remove server anyrdma0\n");
  static_assert(kFits<OnMessage, LoseMessage> && kFits<OnMessage, RemoveDevice>);
  static_assert(kFits<OnQueued, HoldEvent> && !kFits<OnFetched, HoldEvent>);
  static_assert(!kFits<AtTime, LoseMessage> && !kFits<OnMessage, RejectRequest>);
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
        Wrong{"at 1s: lose\n", 1, "'lose' happens to a message or packet only"},
        Wrong{"\n\nat 1x: remove h d", 3,
              "'1x' is no time; write a number with ns, us, ms or s, whole nanoseconds"},
        Wrong{"at s: remove h d", 1,
              "'s' is no time; write a number with ns, us, ms or s, whole nanoseconds"},
        Wrong{"at 1.2ns: remove h d", 1,
              "'1.2ns' is no time; write a number with ns, us, ms or s, whole nanoseconds"},
        Wrong{"at 1.2.3s: remove h d", 1,
              "'1.2.3s' is no time; write a number with ns, us, ms or s, whole nanoseconds"},
        Wrong{"at 99999999999s: remove h d", 1,
              "'99999999999s' is no time; write a number with ns, us, ms or s, whole nanoseconds"},
        Wrong{"at 1s 2s: remove h d", 1, "'time' takes no '2s'"},
        Wrong{"at: remove h d", 1, "'time' lacks its time"},
        Wrong{"on a->b REX 1: lose", 1, "no such message 'REX'"},
        Wrong{"on a->b REQ 0: lose", 1,
              "'0' is no occurrence; write a number from 1, all, or a percentage"},
        Wrong{"on a->b REQ -1: lose", 1,
              "'-1' is no occurrence; write a number from 1, all, or a percentage"},
        Wrong{"on a->b REQ 100%: lose", 1,
              "'100%' is no probability; write one above 0% and below 100%, four decimals"},
        Wrong{"on a->b REQ 0.00001%: lose", 1,
              "'0.00001%' is no probability; write one above 0% and below 100%, four decimals"},
        Wrong{"on a->b REQ: lose", 1, "'message' lacks its occurrence"},
        Wrong{"on a<->b REQ 1: lose", 1, "a message has one direction; write HOST->HOST"},
        Wrong{"on a->b>c REQ 1: lose", 1, "'b>c' is no host"},
        Wrong{"on a#x queued ESTABLISHED 1: cut a->b", 1, "'x' is no id: a number from 1"},
        Wrong{"on *#1 queued ESTABLISHED 1: cut a->b", 1,
              "an id needs its host; write HOST#NUMBER"},
        Wrong{"on a fetched CONNECTED 1: cut a->b", 1, "no such event 'CONNECTED'"},
        Wrong{"on a call rdma_connect 1: cut a->b", 1, "no such call 'rdma_connect'"},
        Wrong{"at 1s: cut a", 1, "'a' is no path; write HOST->HOST"},
        Wrong{"at 1s: return h d again", 1, "expected 'new-guid'"},
        Wrong{"on a->b REQ 1: delay", 1, "'delay' lacks its by"},
        Wrong{"on a->b REQ 1: overflow", 1, "'overflow' happens to a request only"},
        Wrong{"on ->b REQ 1: lose", 1, "a host is missing in '->b'; * means any"},
        Wrong{"on a requests 1: lose", 1,
              "expected request, queued, fetched, call, completion or HOST->HOST"},
        Wrong{"when a: lose", 1,
              "no trigger: 'at TIME', 'between TIME and TIME', 'on HOST->HOST MESSAGE N', 'on HOST "
              "request N' ..."},
        Wrong{"at 1s: ", 1, "no action after the colon"},
        Wrong{"at 1s: explode", 1, "no such action 'explode'"},
        Wrong{"at 1s: remove h", 1, "'remove' lacks its device"},
        Wrong{"at 1s: kill", 1, "'kill' lacks its host"},
        Wrong{"at 1s: kill *", 1, "'*' is no name"},
        Wrong{"at 1s: kill h#2", 1, "'h#2' is no name"},
        Wrong{"at 1s: kill h/", 1, "'h/' names no program: HOST/PROGRAM, or HOST/PROGRAM#2"},
        Wrong{"at 1s: kill h/rping#0", 1, "'0' is no number of a program: from 1"},
        Wrong{"on a->b REQ 1: lose it", 1, "'lose' takes no 'it'"},
        Wrong{"on a->b REQ 1: reject 28", 1, "'reject' happens to a request only"},
        Wrong{"on a state CONNECTED 1: cut a->b", 1, "no such state 'CONNECTED'"},
        Wrong{"on a resolving 1: unresolved EIO", 1, "no such error 'EIO'"},
        Wrong{"at 1s: unresolved ENODEV", 1,
              "'unresolved' happens to the resolution of an address only"},
        Wrong{"at 1s: drift a 100001", 1, "a clock drifts by at most 100000 ppm"},
        Wrong{"on a request 1: reject", 1, "'reject' lacks its reason"},
        Wrong{"on a request 1: reject 256", 1, "'256' is no reason: 0 to 255"},
        Wrong{"on a request 1: reject 28 abc", 1, "'abc' has an odd number of hexadecimal digits"},
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
}  // namespace anyrdma::fault
