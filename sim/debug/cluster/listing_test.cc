#include "sim/debug/cluster/listing.h"

#include <gmock/gmock.h>

#include <chrono>
#include <string>

namespace anyrdma::sim::debug {
namespace {

using recording::Lane;
using recording::Record;
using recording::RecordKind;
using recording::Story;
using testing::HasSubstr;
using testing::Not;
using namespace std::chrono_literals;

enum : std::size_t { kClient, kProcess, kMain, kSecond, kId, kQueuePair, kServer };

/// A thread posts, the client's device sends a packet, and its connection changes its state.
Story a_story() {
  Story story;
  story.lanes = {Lane{.of = "host", .name = "client"},
                 Lane{.of = "process", .name = "client/rping[2]", .in = kClient},
                 Lane{.of = "thread", .name = "client/rping", .in = kProcess},
                 Lane{.of = "thread", .name = "client/rping/2", .in = kProcess},
                 Lane{.of = "id", .name = "client/rping[2]#1", .in = kProcess},
                 Lane{.of = "qp", .name = "client#qp0x11", .in = kProcess},
                 Lane{.of = "host", .name = "server"}};
  const auto add = [&](verbs::Duration time, std::size_t lane, RecordKind kind, std::string name) {
    story.records.push_back({.time = time, .lane = lane, .kind = kind, .name = std::move(name)});
    return story.records.size() - 1;
  };
  add(1us, kQueuePair, RecordKind::kState, "INIT");
  add(2us, kQueuePair, RecordKind::kState, "RTS");
  story.records[add(3us, kSecond, RecordKind::kCall, "ibv_post_send")].about = {kQueuePair};
  add(3us, kMain, RecordKind::kCall, "rdma_get_cm_event");
  Record& packet = story.records[add(4us, kClient, RecordKind::kMessage, "RC SEND Only")];
  packet.to = kServer;
  packet.arrives = 6us;
  packet.about = {kQueuePair};
  add(5us, kId, RecordKind::kState, "CONNECT");
  Record& early = story.records[add(5us, kServer, RecordKind::kMessage, "REQ")];
  early.to = kClient;
  early.arrives = 5us;
  return story;
}

TEST(Doers, OfARecordAreTheThreadThatMadeIt) {
  const Doers doers = doers_of(a_story(), 3);

  EXPECT_TRUE(doers.include("client/rping"));
  EXPECT_FALSE(doers.include("client/rping/2"));
}

TEST(Doers, OfAPacketAreTheThreadThatPostedOnItsQueuePair) {
  const Doers doers = doers_of(a_story(), 4);

  EXPECT_TRUE(doers.include("client/rping/2"));
  EXPECT_FALSE(doers.include("client/rping"));
}

TEST(Doers, AreAllThreadsOfTheProcessOrHostIfNoneDidAnything) {
  const Doers of_process = doers_of(a_story(), 5);
  EXPECT_TRUE(of_process.include("client/rping"));
  EXPECT_TRUE(of_process.include("client/rping/2"));
  EXPECT_FALSE(of_process.include("client/rping2"));
  EXPECT_FALSE(of_process.include("server/rping"));

  const Doers of_host = doers_of(a_story(), 6);
  EXPECT_TRUE(of_host.include("server/rping/4"));
  EXPECT_FALSE(of_host.include("client/rping"));
  EXPECT_TRUE(Doers{}.include("any/thread"));
}

TEST(Records, AreFoundAmongThoseThatAreLikeThem) {
  Story whole = a_story();
  const Record twice = whole.records[2];
  whole.records.insert(whole.records.begin() + 3, twice);  // posted twice at once
  Story so_far = a_story();
  so_far.lanes.insert(so_far.lanes.begin(), Lane{.of = "host", .name = "other"});
  for (Record& each : so_far.records) ++each.lane;
  so_far.records.resize(3);

  EXPECT_TRUE(has_record(so_far, whole, 2));
  EXPECT_FALSE(has_record(so_far, whole, 3));
  EXPECT_FALSE(has_record(so_far, whole, 4));
}

TEST(Listing, OfObjectsHasTheLastStateOfEach) {
  EXPECT_EQ(objects_text(a_story()),
            "client/rping[2]#1 CONNECT since 0.000005000\n"
            "client#qp0x11 RTS since 0.000002000\n");
  EXPECT_THAT(objects_text(Story{}), HasSubstr("no program has an id"));
}

TEST(Listing, OfAQueuePairHasItsStateAndItsLastRecords) {
  const std::string all = queue_pair_text(a_story(), "0x11", 20);
  EXPECT_THAT(all, testing::StartsWith("client#qp0x11 RTS since"));
  EXPECT_THAT(all, HasSubstr("ibv_post_send"));
  EXPECT_THAT(all, Not(HasSubstr("rdma_get_cm_event")));

  const std::string last = queue_pair_text(a_story(), "client#qp0x11", 1);
  EXPECT_THAT(last, HasSubstr("RC SEND Only"));
  EXPECT_THAT(last, Not(HasSubstr("ibv_post_send")));
  EXPECT_THAT(queue_pair_text(a_story(), "0x99", 1), HasSubstr("there is no queue pair '0x99'"));
  EXPECT_THAT(queue_pair_text(a_story(), "", 1), HasSubstr("there is no queue pair ''"));
}

TEST(Listing, OfPacketsHasThoseOnTheirWay) {
  const std::string flying = packets_text(a_story(), 5us, 1);
  EXPECT_THAT(flying, HasSubstr("on their way:\n0.000004000 client -> server RC SEND Only"));
  EXPECT_THAT(flying, HasSubstr("sent last:\n0.000005000 server -> client REQ"));

  EXPECT_THAT(packets_text(a_story(), 6us, 1), HasSubstr("no packet is on its way"));
  EXPECT_EQ(packets_text(Story{}, 6us, 1), "no packet has been sent yet\n");
}

}  // namespace
}  // namespace anyrdma::sim::debug
