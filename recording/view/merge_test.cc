// Recordings of several processes become one in which messages arrive.
#include "recording/view/merge.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "recording/view/story.h"
#include "recording/view/text.h"
#include "recording/writer.h"

namespace anyrdma::recording {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using verbs::Instant;

constexpr std::size_t kPlenty = std::size_t{1} << 22;

/// What a process would have written.
class Process {
 public:
  explicit Process(const std::string& name, verbs::Duration began = 0s,
                   const std::string& boot = "one")
      : sink_(std::make_shared<MemorySink>(kPlenty)), writer_(sink_) {
    writer_.about("clock", "real");
    writer_.about("process", "812");
    writer_.about("program", name + " -v");
    writer_.about("boot", boot);
    writer_.about("since boot", std::to_string(began.count()));
    writer_.about("since 1970", std::to_string(began.count()));
    own_ = writer_.lane({}, "host", name);
  }
  void sends(Instant when, const std::string& packet, const std::string& to = "10.0.0.9") {
    message(when, packet, own_, outside(when, to));
  }
  void gets(Instant when, const std::string& packet, const std::string& from = "10.0.0.8") {
    message(when, packet, outside(when, from), own_);
    writer_.write<EntryKind::kArrives>(when, last_, 0u);
  }
  void calls(Instant when, const std::string& call) {
    if (!thread_) thread_ = writer_.lane(when, "thread", "main", own_);
    writer_.write<EntryKind::kRunning>(when, *thread_ + 1);
    writer_.write<EntryKind::kCalled>(when, own_, 1u, call, 0u, 0u);
  }
  void loses_the_last(Instant when) {
    writer_.write<EntryKind::kFault>(when, "on here REQ 1: lose", "lose", "");
    writer_.write<EntryKind::kStruck>(when, last_);
    writer_.write<EntryKind::kLost>(when, last_, "lost by a fault", 0u);
  }
  void ends(Instant when) { writer_.end(when, "ended", 0); }
  [[nodiscard]] ProcessFile file() const { return read_process_file(sink_->bytes()).file.value(); }
  [[nodiscard]] Writer& writer() { return writer_; }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return sink_->bytes(); }

 private:
  Number outside(Instant when, const std::string& name) {
    if (name != outside_name_) outside_ = writer_.lane(when, "host", name);
    outside_name_ = name;
    return outside_;
  }
  void message(Instant when, const std::string& packet, Number from, Number to) {
    writer_.write<EntryKind::kSent>(when, from, to + 1, std::string(32, 'g'), packet, 1u);
    last_ = writer_.next_message();
  }

  std::shared_ptr<MemorySink> sink_;
  Writer writer_;
  Number own_ = 0;
  std::optional<Number> thread_;
  Number outside_ = 0;
  std::string outside_name_;
  Number last_ = 0;
};

Story merged(const std::vector<ProcessFile>& files) {
  const auto sink = std::make_shared<MemorySink>(kPlenty);
  EXPECT_EQ(merge(files, sink).problem, "");
  return tell(sink->bytes()).story.value();
}

std::vector<std::string> lines_of(const Story& story) {
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < story.records.size(); ++i) lines.push_back(line_of(story, i));
  return lines;
}

std::vector<std::string> hosts_of(const Story& story) {
  std::vector<std::string> names;
  for (const Lane& lane : story.lanes) {
    if (lane.of == "host") names.push_back(lane.name);
  }
  return names;
}

/// Fields that are a packet of so many bytes which nobody can read.
std::string packet(char size) {
  return {'\x01', size, '\0'};
}

TEST(Merge, WhatOneSendsArrivesAtTheOther) {
  Process client("client", 5s);
  Process server("server", 5s + 10us);
  client.sends(Instant(20us), packet(7));
  client.ends(Instant(30us));
  server.gets(Instant(13us), packet(7));
  server.ends(Instant(14us));

  const Story story = merged({client.file(), server.file()});

  EXPECT_THAT(hosts_of(story), ElementsAre("client", "server"));
  EXPECT_THAT(lines_of(story),
              ElementsAre("0.000020000 client -> server 7 bytes that are no packet, arrives "
                          "0.000023000"));
  EXPECT_EQ(story.verdict, "ended");
  EXPECT_EQ(story.clock, "real");
  EXPECT_EQ(story.hash, "");
}

TEST(Merge, WhatNobodyElseSawStaysAsItIs) {
  Process client("client");
  Process server("server");
  client.sends(Instant(1us), packet(1));
  client.gets(Instant(2us), packet(2), "10.0.0.7");
  client.ends(Instant(3us));
  server.ends(Instant(3us));

  const Story story = merged({client.file(), server.file()});

  EXPECT_THAT(hosts_of(story), ElementsAre("client", "server", "10.0.0.9", "10.0.0.7"));
  EXPECT_THAT(lines_of(story),
              ElementsAre("0.000001000 client -> 10.0.0.9 1 bytes that are no packet, not seen to "
                          "arrive",
                          "0.000002000 10.0.0.7 -> client 2 bytes that are no packet, arrives "
                          "0.000002000"));
}

TEST(Merge, WhatIsSentAgainArrivesFromTheTimeThatArrived) {
  Process client("client");
  Process server("server");
  client.sends(Instant(1us), packet(1));
  client.sends(Instant(4s), packet(1));
  client.ends(Instant(5s));
  server.gets(Instant(4s + 2us), packet(1));
  server.ends(Instant(5s));

  const Story story = merged({client.file(), server.file()});

  ASSERT_EQ(story.records.size(), 2u);
  EXPECT_EQ(story.records[0].fate, kUnseen);
  EXPECT_EQ(story.records[1].arrives, verbs::Duration(4s + 2us));
  EXPECT_EQ(story.records[1].same, 0u);
}

TEST(Merge, WhatAFaultHasLostIsNotWhatArrives) {
  Process client("client");
  Process server("server");
  client.sends(Instant(1us), packet(1));
  client.loses_the_last(Instant(1us));
  client.sends(Instant(2us), packet(1));
  client.ends(Instant(5us));
  server.gets(Instant(3us), packet(1));
  server.ends(Instant(5us));

  const Story story = merged({client.file(), server.file()});

  ASSERT_EQ(story.records.size(), 3u);
  EXPECT_EQ(story.records[0].fate, "lost: lost by a fault");
  EXPECT_THAT(story.records[1].strikes, ElementsAre(0u));
  EXPECT_EQ(story.records[2].arrives, verbs::Duration(3us));
}

TEST(Merge, CallsStayWithTheirThreads) {
  Process client("client");
  Process server("server");
  client.calls(Instant(1us), "connect");
  server.calls(Instant(2us), "listen");
  client.calls(Instant(3us), "disconnect");
  client.ends(Instant(5us));
  server.ends(Instant(5us));

  const Story story = merged({client.file(), server.file()});

  ASSERT_EQ(story.records.size(), 3u);
  const auto host = [&](std::size_t record) {
    const std::size_t lane = story.records[record].lane;
    EXPECT_EQ(story.lanes[lane].of, "thread");
    return story.lanes[story.host_of(lane)].name;
  };
  EXPECT_EQ(host(0), "client");
  EXPECT_EQ(host(1), "server");
  EXPECT_EQ(host(2), "client");
}

TEST(Merge, NoTwoProcessesHaveOneName) {
  Process one("rping");
  Process other("rping");
  one.ends(Instant(1us));
  other.ends(Instant(1us));

  EXPECT_THAT(hosts_of(merged({one.file(), other.file()})), ElementsAre("rping", "rping~2"));
}

TEST(Merge, OneThatWasCutOffIsThereUpToTheCut) {
  Process client("client");
  Process server("server");
  client.sends(Instant(1us), packet(1));
  server.gets(Instant(2us), packet(1));
  server.ends(Instant(5us));
  client.ends(Instant(5us));
  const std::vector<std::uint8_t> bytes(client.bytes().begin(), client.bytes().end() - 3);

  const Story story = merged({read_process_file(bytes).file.value(), server.file()});

  EXPECT_EQ(story.verdict, "cut off");
  ASSERT_EQ(story.records.size(), 1u);
  EXPECT_EQ(story.records[0].arrives, verbs::Duration(2us));
}

TEST(Merge, OfSeveralMachinesAMessageMayArriveBeforeItLeaves) {
  Process client("client", 0s, "one");
  Process server("server", 0s, "another");
  client.sends(Instant(9us), packet(1));
  client.ends(Instant(10us));
  server.gets(Instant(2us), packet(1));
  server.ends(Instant(10us));
  const auto sink = std::make_shared<MemorySink>(kPlenty);

  const Merged result = merge({client.file(), server.file()}, sink);

  EXPECT_FALSE(result.exact);
  EXPECT_EQ(result.joined, 1u);
  const Story story = tell(sink->bytes()).story.value();
  ASSERT_EQ(story.records.size(), 1u);
  EXPECT_EQ(story.records[0].arrives, verbs::Duration(9us));
}

TEST(Merge, RefusesWhatIsOfNoSingleProcess) {
  Process client("client");
  client.ends(Instant(1us));
  const auto sink = std::make_shared<MemorySink>(kPlenty);
  ASSERT_EQ(merge({client.file()}, sink).problem, "");
  EXPECT_THAT(read_process_file(sink->bytes()).problem, HasSubstr("it is not of one process"));

  const auto world = std::make_shared<MemorySink>(kPlenty);
  Writer writer(world);
  writer.about("clock", "virtual");
  writer.end(Instant{}, "passed", 0);
  EXPECT_THAT(read_process_file(world->bytes()).problem, HasSubstr("of a simulated run"));
}

TEST(Merge, RefusesClocksThatHaveNothingInCommon) {
  Process client("client", 0s, "one");
  Process server("server", std::chrono::hours(24 * 365), "another");
  client.ends(Instant(1us));
  server.ends(Instant(1us));
  const auto sink = std::make_shared<MemorySink>(kPlenty);

  EXPECT_THAT(merge({client.file(), server.file()}, sink).problem,
              HasSubstr("of different months"));
}

}  // namespace
}  // namespace anyrdma::recording
