#include "sim/trace/trace_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/testing/life.h"
#include "sim/testing/program.h"

namespace anyrdma::sim {
namespace {

using ::testing::HasSubstr;

std::vector<TraceLine> lines_of(const std::string& text) {
  TraceError error;
  const auto lines = parse_trace(text, error);
  EXPECT_TRUE(lines) << error.to_string();
  return lines.value_or(std::vector<TraceLine>{});
}

std::string problem_of(const std::string& text) {
  TraceError error;
  EXPECT_FALSE(parse_trace(text, error)) << text;
  return error.to_string();
}

/// A run with loss, a fault, a note and a server that is not there.
std::string rich_trace() {
  World world(3);
  Host& client = world.add_host("client", {"192.0.2.1"});
  Host& server = world.add_host("server", {"192.0.2.2"});
  world.set_link(client, server, {.loss = 0.2, .duplicate = 0.2});
  const auto plan = FaultPlan::parse("maybe on client->server REP 1: corrupt\n").value();
  EXPECT_TRUE(world.faults().inject(plan));
  {
    testing::Life life(world, client, server);
    life.start();
    (void)world.run().has_value();
  }
  return world.trace().text();
}

TEST(TraceReader, TakesBackWhatATraceWrote) {
  const std::string text = rich_trace();

  std::string again;
  for (const TraceLine& line : lines_of(text)) again += line.to_string() + "\n";

  EXPECT_EQ(again, text);
  EXPECT_THAT(text, HasSubstr(" drop (server): lost: "));
  EXPECT_THAT(text, HasSubstr(" fetched id="));
}

TEST(TraceReader, TakesAnEventApart) {
  const std::vector<TraceLine> lines = lines_of(
      "0.000010000 server queued id=2 CONNECT_REQUEST listener=1 status=0 length=56 data=\"hi\"\n");

  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].time, Instant(std::chrono::microseconds(10)));
  EXPECT_EQ(lines[0].kind, RecordKind::kQueued);
  EXPECT_EQ(lines[0].host, "server");
  EXPECT_EQ(lines[0].id, 2u);
  EXPECT_EQ(lines[0].listener, 1u);
  EXPECT_EQ(lines[0].event, RDMA_CM_EVENT_CONNECT_REQUEST);
  EXPECT_EQ(lines[0].text, " length=56 data=\"hi\"");
}

TEST(TraceReader, RefusesWithLineAndReason) {
  EXPECT_EQ(problem_of("0.000000001 a note x\n0.000000002 a sings\n"),
            "line 2: nothing that a host does");
  EXPECT_EQ(problem_of("0.000000001 a note x"), "line 1: does not end");
  EXPECT_EQ(problem_of("\n"), "line 1: does not begin with a time");
  EXPECT_EQ(problem_of("0.00000001 a note x\n"), "line 1: a time without nine decimals");
  EXPECT_EQ(problem_of("00.000000001 a note x\n"), "line 1: does not begin with a time");
  EXPECT_EQ(problem_of("9999999999999.000000001 a note x\n"), "line 1: a time that is too late");
  EXPECT_EQ(problem_of("0.000000002 a note x\n0.000000001 a note y\n"), "line 2: time goes back");
  EXPECT_EQ(problem_of("0.000000001 a drop: bad luck: RC SEND\n"),
            "line 1: no cause of a drop that is known");
  EXPECT_EQ(problem_of("0.000000001 a -> b HELLO id=1\n"), "line 1: no packet that is known");
  EXPECT_EQ(problem_of("0.000000001 a fetched id=1 HAPPY status=0\n"),
            "line 1: no event that is known");
  EXPECT_EQ(problem_of("0.000000001 a fetched id=01 REJECTED status=8\n"),
            "line 1: an event without its id");
  EXPECT_EQ(problem_of("0.000000001 a ignores REQ: no mood\n"),
            "line 1: no reason to ignore a message that is known");
  EXPECT_EQ(problem_of("0.000000001 a note \x01\n"), "line 1: a character that no trace has");
}

TEST(TraceReader, TakesChoicesOfASchedule) {
  const std::string text = "0.000000001 CHOICE 421:1\n0.000000001 CHOICE 0:7\n";
  const auto lines = lines_of(text);

  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[0].kind, RecordKind::kChoice);
  EXPECT_EQ(lines[0].to_string() + "\n" + lines[1].to_string() + "\n", text);
  EXPECT_EQ(problem_of("0.000000001 CHOICE 4\n"), "line 1: no choice of a schedule");
  EXPECT_EQ(problem_of("0.000000001 CHOICE 4:0\n"), "line 1: no choice of a schedule");
  EXPECT_EQ(problem_of("0.000000001 CHOICE 4:1 2\n"), "line 1: no choice of a schedule");
}

TEST(TraceReader, ReadsWhatAScheduleHasChosen) {
  World world(3, {.schedule = {.policy = Policy::kRandom}});
  Host& host = world.add_host("a", {"192.0.2.1"});
  for (int i = 0; i < 5; ++i) host.spawn("b", [&] { world.scheduler().give_way(); });
  ASSERT_TRUE(world.run());

  const auto lines = lines_of(world.trace().text());

  ASSERT_EQ(lines.size(), world.scheduler().deviations().size());
  ASSERT_FALSE(lines.empty());
  const Deviation& last = world.scheduler().deviations().back();
  EXPECT_EQ(lines.back().text, std::to_string(last.point) + ":" + std::to_string(last.choice));
}

TEST(TraceDifference, NamesTheFirstLineAndWhatIsNotTheSameInIt) {
  const auto before = lines_of("0.000000001 a note x\n0.000000002 a -> b RC SEND length=4\n");
  const auto after = lines_of("0.000000001 a note x\n0.000000002 a -> c RC SEND length=4\n");

  const auto difference = first_difference(before, after);

  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->to_string(),
            "line 2 differs in its peer:\n"
            "- 0.000000002 a -> b RC SEND length=4\n"
            "+ 0.000000002 a -> c RC SEND length=4\n");
}

TEST(TraceDifference, ATraceThatEndsBeforeTheOtherDiffersThere) {
  const auto longer = lines_of("0.000000001 a note x\n0.000000002 FAULT y\n");
  const auto shorter = lines_of("0.000000001 a note x\n");

  const auto difference = first_difference(longer, shorter);

  ASSERT_TRUE(difference);
  EXPECT_EQ(difference->line, 2u);
  EXPECT_EQ(difference->what, "end");
  EXPECT_EQ(difference->right, "");
}

TEST(TraceDifference, EqualTracesHaveNone) {
  const auto lines = lines_of(rich_trace());

  EXPECT_FALSE(first_difference(lines, lines));
}

}  // namespace
}  // namespace anyrdma::sim
