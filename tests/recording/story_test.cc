// What a world's recording tells of a connection's life.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "recording/view/json.h"
#include "recording/view/text.h"
#include "sim/findings.h"
#include "sim/testing/audit.h"
#include "tests/recording/recorded.h"

namespace anyrdma::tests {
namespace {

using namespace std::chrono_literals;
using recording::Record;
using recording::RecordKind;
using recording::Story;
using ::testing::Contains;
using ::testing::HasSubstr;

std::vector<std::string> about(const Story& story, const Record& record) {
  std::vector<std::string> names;
  for (const std::size_t lane : record.about) names.push_back(story.lanes[lane].name);
  return names;
}

std::vector<std::string> states(const Story& story, std::string_view lane) {
  std::vector<std::string> names;
  for (const Record& each : story.records) {
    if (each.kind == RecordKind::kState && story.lanes[each.lane].name == lane)
      names.push_back(each.name);
  }
  return names;
}

TEST(Story, SaysOfWhichRunItIs) {
  const RecordedRun run = record_clean_run(8);
  EXPECT_EQ(run.story.seed, "8");
  EXPECT_EQ(run.story.verdict, "passed");
  EXPECT_EQ(run.story.clock, "virtual");
  EXPECT_EQ(std::stoull(run.story.hash, nullptr, 16), run.hash);
  EXPECT_FALSE(run.story.truncated);
  EXPECT_TRUE(run.story.moments.empty());
}

TEST(Story, RecordingChangesNothing) {
  sim::World world(8);
  sim::testing::CleanRun run(world);
  run.start();
  ASSERT_TRUE(world.run());
  run.end();
  EXPECT_EQ(world.trace().hash(), record_clean_run(8).hash);
  EXPECT_EQ(record_clean_run(8, {}, {.tracing = sim::Tracing::kOff}).story.records.size(),
            record_clean_run(8).story.records.size());
}

TEST(Story, MessagesArriveAndBelongToTheirIds) {
  const Story story = record_clean_run(8).story;
  const Record* const request = find(story, RecordKind::kMessage, "REQ");
  ASSERT_NE(request, nullptr);
  EXPECT_EQ(story.lanes[request->lane].name, "client");
  EXPECT_EQ(story.lanes[request->to.value()].name, "server");
  EXPECT_EQ(request->arrives, request->time + 2us);
  EXPECT_EQ(request->fate, "");
  EXPECT_THAT(about(story, *request), testing::ElementsAre("client#1", "server#2"));
  EXPECT_THAT(request->fields, Contains(testing::Pair("data", "hello")));
  const Record* const send = find(story, RecordKind::kMessage, "RC SEND Only");
  ASSERT_NE(send, nullptr);
  EXPECT_EQ(send->bytes, 4u);
  EXPECT_TRUE(send->psn.has_value());
  EXPECT_EQ(send->about.size(), 2u);
}

TEST(Story, EventsAreQueuedFetchedAndAcknowledged) {
  const Story story = record_clean_run(8).story;
  const Record* const established = find(story, RecordKind::kEvent, "RDMA_CM_EVENT_ESTABLISHED");
  ASSERT_NE(established, nullptr);
  EXPECT_EQ(established->status, "0");
  ASSERT_TRUE(established->fetched && established->acknowledged);
  EXPECT_GE(*established->fetched, established->time);
  EXPECT_GE(*established->acknowledged, *established->fetched);
  const Record* const request = find(story, RecordKind::kEvent, "RDMA_CM_EVENT_CONNECT_REQUEST");
  ASSERT_NE(request, nullptr);
  EXPECT_EQ(story.lanes[request->lane].name, "server#1");  // the listener, who owes it
  EXPECT_THAT(about(story, *request), testing::ElementsAre("server#2", "server#1"));
  EXPECT_TRUE(request->acknowledged.has_value());
}

// librdmacm brings the queue pair up when the response is fetched, and tells its program of the
// end.
TEST(Story, AnEventThatIsFetchedAsAnotherIsFetched) {
  const Story story = record_clean_run(8).story;
  const Record* const response = find(story, RecordKind::kEvent, "RDMA_CM_EVENT_CONNECT_RESPONSE");
  ASSERT_NE(response, nullptr);
  EXPECT_TRUE(response->fetched && response->acknowledged);
  EXPECT_THAT(response->fields, Contains(testing::Pair("fetched as", "RDMA_CM_EVENT_ESTABLISHED")));
}

TEST(Story, IdsAndQueuePairsGoThroughTheirStates) {
  const Story story = record_clean_run(8).story;
  EXPECT_THAT(states(story, "client#1"),
              testing::IsSupersetOf(
                  {"ADDR_QUERY", "ADDR_RESOLVED", "ROUTE_RESOLVED", "CONNECT", "destroyed"}));
  std::string pair;
  for (const recording::Lane& lane : story.lanes) {
    if (lane.of == "qp" && lane.name.starts_with("client")) pair = lane.name;
  }
  const auto all = states(story, pair);
  EXPECT_THAT(all, testing::IsSupersetOf({"RESET", "INIT", "RTR", "RTS", "destroyed"}));
  EXPECT_EQ(all.front(), "RESET");
}

TEST(Story, CallsWorkAndWaitsAreTheirThreads) {
  const Story story = record_clean_run(8).story;
  const Record* const connect = find(story, RecordKind::kCall, "rdma_connect");
  ASSERT_NE(connect, nullptr);
  EXPECT_EQ(connect->result, "0");
  EXPECT_EQ(story.lanes[connect->lane].name, "client/client");
  EXPECT_EQ(story.lanes[connect->lane].of, "thread");
  EXPECT_NE(find(story, RecordKind::kCall, "ibv_post_send"), nullptr);
  const Record* const read = find(story, RecordKind::kCompletion, "IBV_WC_RDMA_READ");
  ASSERT_NE(read, nullptr);
  EXPECT_EQ(read->status, "IBV_WC_SUCCESS");
  const Record* const wait = find(story, RecordKind::kWait, "waits");
  ASSERT_NE(wait, nullptr);
  EXPECT_EQ(wait->purpose, "an event on an event channel");
  EXPECT_GT(wait->ends.value(), wait->time);
}

TEST(Story, AFaultStrikesAMessageThatIsSentAgain) {
  const Story story = record_clean_run(8, "on client->server REQ 1: lose\n").story;
  const Record* const fault = find(story, RecordKind::kFault, "on client->server REQ 1: lose");
  ASSERT_NE(fault, nullptr);
  ASSERT_EQ(fault->strikes.size(), 1u);
  const Record& struck = story.records[fault->strikes.front()];
  EXPECT_EQ(struck.name, "REQ");
  EXPECT_EQ(struck.fate, "lost: lost by a fault");
  EXPECT_FALSE(struck.arrives.has_value());
  EXPECT_EQ(fault->effect, "lose: REQ from client to server");
  std::size_t again = 0;
  for (const Record& each : story.records) {
    if (each.name == "REQ" && each.same == fault->strikes.front()) ++again;
  }
  EXPECT_EQ(again, 1u);
  EXPECT_THAT(story.plan, testing::ElementsAre("on client->server REQ 1: lose"));
  EXPECT_THAT(recording::summary_of(story), HasSubstr("REQ from client, lost: lost by a fault"));
}

TEST(Story, WhatHangsIsTheMomentToLookAt) {
  const auto sink = std::make_shared<recording::MemorySink>(std::size_t{1} << 22);
  {
    const sim::testing::Unaudited unaudited;
    sim::World world(1, {.recording = sink});
    sim::Host& host = world.add_host("client", {"192.0.2.1"});
    host.spawn("main", [&] {
      auto channel = cm::EventChannel::create(host.transport()).value();
      (void)channel->get().has_value();
    });
    EXPECT_FALSE(world.run());
  }
  const Story story = recording::tell(sink->bytes()).story.value();
  EXPECT_EQ(story.verdict, "hang");
  ASSERT_EQ(story.moments.size(), 1u);
  EXPECT_THAT(story.moments[0].why,
              HasSubstr("client/main waits for an event on an event channel since 0.000000000 s"));
  const Record& at = story.records[story.moments[0].at];
  EXPECT_EQ(at.kind, RecordKind::kWait);
  EXPECT_FALSE(at.ends.has_value());
}

TEST(Story, IsJsonLineByLine) {
  const Story story = record_clean_run(8).story;
  std::vector<std::string> lines;
  recording::write_json(story, {}, [&](std::string_view line) { lines.emplace_back(line); });
  ASSERT_EQ(lines.size(), 1 + story.lanes.size() + story.records.size());
  EXPECT_THAT(lines[0], testing::StartsWith(R"({"anyrdma":1,"clock":"virtual","seed":"8")"));
  EXPECT_EQ(lines[1], R"({"lane":0,"of":"host","name":"client"})");
  EXPECT_THAT(lines[1 + story.lanes.size()], testing::StartsWith(R"({"n":0,"t":0,"lane":)"));
}

TEST(Json, BytesThatAreNoTextAreReplaced) {
  EXPECT_EQ(recording::json_string("a\"\\\n\x7f"), R"("a\"\\\u000a\u007f")");
  EXPECT_EQ(recording::json_string("\xc3\xa4\xff\xc0\x80\xed\xa0\x80"),
            "\"\xc3\xa4\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace anyrdma::tests
