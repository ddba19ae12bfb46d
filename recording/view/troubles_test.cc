#include "recording/view/troubles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recording/view/text.h"

namespace anyrdma::recording {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::size_t kClient = 0;
constexpr std::size_t kServer = 1;
constexpr std::size_t kClientQp = 2;
constexpr std::size_t kServerQp = 3;

/// Two hosts with a queue pair each.
class TroublesTest : public ::testing::Test {
 protected:
  TroublesTest() {
    story.lanes = {{.of = "host", .name = "c"},
                   {.of = "host", .name = "s2"},
                   {.of = "qp", .name = "c#qp0x11", .in = kClient},
                   {.of = "qp", .name = "s2#qp0x4011", .in = kServer}};
  }

  std::size_t packet(Duration time, std::size_t from, const std::string& name, std::uint64_t psn,
                     Fields fields = {}, std::optional<std::size_t> same = std::nullopt) {
    Record record{.time = time, .lane = from, .kind = RecordKind::kMessage, .name = name};
    record.about = {kClientQp, kServerQp};
    record.fields = std::move(fields);
    record.to = from == kClient ? kServer : kClient;
    record.arrives = time + 2us;
    record.same = same;
    record.psn = psn;
    story.records.push_back(std::move(record));
    return story.records.size() - 1;
  }
  std::size_t sent(Duration time, std::uint64_t psn,
                   std::optional<std::size_t> same = std::nullopt) {
    return packet(time, kClient, "RC SEND Only", psn, {}, same);
  }
  void answered(Duration time, const std::string& kind, const std::string& value) {
    (void)packet(time, kServer, "RC Acknowledge", 1, {{kind, value}});
  }
  void posted(const std::string& call, const std::string& wr_id) {
    Record record{.lane = kServer, .kind = RecordKind::kCall, .name = call};
    record.about = {kServerQp};
    record.fields = {{"wr_id", wr_id}};
    record.result = "0";
    story.records.push_back(std::move(record));
  }
  void completed(const std::string& name, const std::string& wr_id, const std::string& status) {
    Record record{.lane = kServer, .kind = RecordKind::kCompletion, .name = name};
    record.about = {kServerQp};
    record.fields = {{"wr_id", wr_id}};
    record.status = status;
    story.records.push_back(std::move(record));
  }

  Story story;
};

TEST_F(TroublesTest, NoneOfARunWithoutAny) {
  sent(1us, 1);
  answered(4us, "ack", "31");

  const Troubles troubles = troubles_of(story);

  EXPECT_THAT(troubles.not_ready, IsEmpty());
  EXPECT_THAT(troubles.repeated, IsEmpty());
  EXPECT_THAT(troubles.flushed, IsEmpty());
  EXPECT_THAT(troubles.depths, IsEmpty());
}

TEST_F(TroublesTest, RnrNaksAreCountedByReceiverAndWait) {
  for (int i = 0; i < 5; ++i) answered(i * 1ms, "rnr-nak", "0");
  answered(6ms, "rnr-nak", "1");

  EXPECT_THAT(troubles_of(story).not_ready, ElementsAre("5 times, 655.36 ms each, of s2#qp0x4011",
                                                        "once, 0.01 ms each, of s2#qp0x4011"));
}

TEST_F(TroublesTest, ARepetitionWithoutANakIsATimeout) {
  const std::size_t first = sent(1us, 1);
  sent(1000us, 1, first);
  sent(2000us, 1, first);

  EXPECT_THAT(troubles_of(story).repeated, ElementsAre("2 packets of c#qp0x11, after 2 timeouts"));
}

TEST_F(TroublesTest, PacketsThatFollowOneAnotherAreOneTimeout) {
  const std::size_t first = sent(1us, 1);
  const std::size_t second = sent(2us, 2);
  sent(1000us, 1, first);
  sent(1000us, 2, second);
  sent(1001us, 3);
  sent(2000us, 1, first);

  EXPECT_THAT(troubles_of(story).repeated, ElementsAre("3 packets of c#qp0x11, after 2 timeouts"));
}

TEST_F(TroublesTest, ARepetitionAfterANakIsNone) {
  const std::size_t first = sent(1us, 1);
  answered(3us, "rnr-nak", "12");
  sent(700us, 1, first);

  EXPECT_THAT(troubles_of(story).repeated, ElementsAre("1 packet of c#qp0x11, after NAKs"));
}

TEST_F(TroublesTest, ANakThatIsLostHelpsNobody) {
  const std::size_t first = sent(1us, 1);
  answered(3us, "rnr-nak", "12");
  story.records.back().arrives.reset();
  sent(700us, 1, first);

  EXPECT_THAT(troubles_of(story).repeated, ElementsAre("1 packet of c#qp0x11, after 1 timeout"));
}

TEST_F(TroublesTest, MessagesOfTheCmAreCountedByName) {
  Record record{.lane = kClient, .kind = RecordKind::kMessage, .name = "REQ"};
  story.records = {record, record, record};
  story.records[1].same = story.records[2].same = 0;

  EXPECT_THAT(troubles_of(story).repeated_messages, ElementsAre("REQ 2"));
}

TEST_F(TroublesTest, FlushedWorkAndTheHighestDepths) {
  for (const char* id : {"0x1", "0x2", "0x3"}) posted("ibv_post_recv", id);
  posted("ibv_post_send", "0x1");
  posted("ibv_post_send", "0x2");
  completed("IBV_WC_SEND", "0x2", "IBV_WC_SUCCESS");  // the first one was not signalled
  posted("ibv_post_send", "0x3");
  completed("IBV_WC_RECV", "0x1", "IBV_WC_SUCCESS");
  completed("IBV_WC_ERROR", "0x2", "IBV_WC_WR_FLUSH_ERR");
  completed("IBV_WC_ERROR", "0x3", "IBV_WC_WR_FLUSH_ERR");

  const Troubles troubles = troubles_of(story);

  EXPECT_THAT(troubles.flushed, ElementsAre("2 of s2#qp0x4011"));
  EXPECT_THAT(troubles.depths, ElementsAre("s2#qp0x4011: 2 sends, 3 receives"));
}

TEST_F(TroublesTest, TheSummaryHasThem) {
  answered(1ms, "rnr-nak", "0");

  EXPECT_THAT(summary_of(story), HasSubstr("RNR:\n  once, 655.36 ms each, of s2#qp0x4011\n"));
}

TEST_F(TroublesTest, TheSummaryHasTheStackOfAMoment) {
  Record record{.lane = kClient, .kind = RecordKind::kFinding, .name = "c/a crashed"};
  record.stack = {"  SIGSEGV", "    main+0x1 (a) a.c:3"};
  story.records.push_back(record);
  story.moments.push_back({.at = 0, .why = "c/a crashed"});

  EXPECT_THAT(summary_of(story), HasSubstr("look first at:\n  0.000000000 s: c/a crashed\n"
                                           "    SIGSEGV\n      main+0x1 (a) a.c:3\n"));
}

}  // namespace
}  // namespace anyrdma::recording
