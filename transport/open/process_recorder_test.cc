// What a process tells its recorder is in its file, whichever threads tell it, and however it ends.
#include "transport/open/process_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "recording/view/story.h"
#include "recording/view/text.h"
#include "transport/open/record_file.h"

namespace anyrdma::transport {
namespace {

using recording::RecordKind;
using recording::Story;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr std::size_t kPlenty = std::size_t{1} << 24;

recording::Entry call(std::uint64_t id) {
  return recording::entry_of<recording::EntryKind::kCalled>(0u, id, "create", 0u, 0u);
}

recording::Entry completion(std::uint64_t wr_id) {
  return recording::entry_of<recording::EntryKind::kCompleted>(0u, 17u, wr_id, 0u, 0u, 0u, 0u, 0u,
                                                               0u, 0u);
}

/// A directory of the test's own.
class Directory {
 public:
  Directory() : path_(::testing::TempDir() + "recordings." + std::to_string(::getpid())) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directory(path_);
  }
  ~Directory() { std::filesystem::remove_all(path_); }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  [[nodiscard]] std::string path() const { return path_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

std::vector<std::uint8_t> bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::shared_ptr<recording::Sink> sink_of(const std::string& path, const RecordingProcess& process) {
  return std::move(open_record_file(path, process)->sink);
}

class Recorded : public ::testing::Test {
 protected:
  Story story() {
    recorder_.end({});
    return recording::tell(sink_->bytes()).story.value();
  }
  verbs::soft::PacketPtr packet() {
    verbs::soft::PacketPtr packet = pool_.take();
    for (ibv_gid* gid : {&packet->source, &packet->destination}) {
      gid->raw[10] = gid->raw[11] = 0xff;
      gid->raw[12] = 10;
    }
    packet->source.raw[15] = 1;
    packet->destination.raw[15] = 2;
    packet->size = 3;
    return packet;
  }

  verbs::soft::PacketPool pool_;
  std::shared_ptr<recording::MemorySink> sink_ = std::make_shared<recording::MemorySink>(kPlenty);
  ProcessRecorder recorder_{sink_, this_process("client"), "fabric"};
};

TEST_F(Recorded, SaysWhoItIs) {
  const Story all = story();

  EXPECT_EQ(all.clock, "real");
  EXPECT_EQ(all.verdict, "ended");
  EXPECT_THAT(all.program, HasSubstr("process_recorder_test"));
  EXPECT_THAT(all.began, EndsWith("Z"));
  ASSERT_EQ(all.lanes.size(), 1u);
  EXPECT_EQ(all.lanes[0].name, "client");
}

TEST_F(Recorded, MessagesGoToAndComeFromAddresses) {
  recorder_.on_leaving(*packet(), false);
  recorder_.on_passed();
  recorder_.on_arriving(*packet());
  recorder_.on_passed();
  recorder_.on_leaving(*packet(), true);
  recorder_.on_passed();

  const Story all = story();

  const auto way = [&](std::size_t i) {
    const recording::Record& record = all.records[i];
    return all.lanes[record.lane].name + " -> " + all.lanes[*record.to].name;
  };
  ASSERT_EQ(all.records.size(), 3u);
  EXPECT_EQ(way(0), "client -> 10.0.0.2");
  EXPECT_EQ(all.records[0].fate, recording::kUnseen);
  EXPECT_EQ(way(1), "10.0.0.1 -> client");
  EXPECT_TRUE(all.records[1].arrives);
  EXPECT_EQ(way(2), "client -> client");
  EXPECT_TRUE(all.records[2].arrives);
}

TEST_F(Recorded, AFaultStrikesTheMessageThatPasses) {
  fault::FaultStatus lose;
  lose.fault.action = fault::LoseMessage{};

  recorder_.on_leaving(*packet(), false);
  recorder_.fired(lose);
  recorder_.on_passed();
  recorder_.fired(lose);

  const Story all = story();
  ASSERT_EQ(all.records.size(), 3u);
  EXPECT_EQ(all.records[0].fate, "lost: lost by a fault");
  EXPECT_THAT(all.records[1].strikes, ElementsAre(0u));
  EXPECT_TRUE(all.records[2].strikes.empty());
}

TEST_F(Recorded, EachThreadHasALane) {
  recorder_.put(call(1));
  std::thread([&] { recorder_.put(completion(3)); }).join();
  std::thread([&] { recorder_.put(completion(4)); }).join();

  const Story all = story();

  std::set<std::size_t> lanes;
  for (const recording::Record& each : all.records) lanes.insert(each.lane);
  EXPECT_EQ(lanes.size(), 3u);
  EXPECT_EQ(std::ranges::count(all.lanes, "thread", &recording::Lane::of), 3);
}

TEST_F(Recorded, ThreadsThatTellAtOnceAreAllHeard) {
  constexpr int kThreads = 4;
  constexpr std::uint64_t kEach = 1000;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      for (std::uint64_t n = 0; n < kEach; ++n) recorder_.put(completion(n));
    });
  }
  for (std::thread& each : threads) each.join();

  const Story all = story();
  EXPECT_EQ(std::ranges::count(all.records, RecordKind::kCompletion, &recording::Record::kind),
            kThreads * static_cast<int>(kEach));
}

TEST_F(Recorded, NothingIsHeardAfterItsEnd) {
  recorder_.end({});
  recorder_.put(call(1));

  EXPECT_TRUE(story().records.empty());
}

// --- files --------------------------------------------------------------------------------------

TEST(RecordFile, OfAForkedChildIsTheParentsAlone) {
  const Directory directory;
  const std::string path = directory.file("run");
  {
    const RecordingProcess process = this_process("");
    ProcessRecorder recorder(sink_of(path, process), process, "fabric");
    recorder.put(call(1));
    const pid_t child = ::fork();
    if (child == 0) {
      recorder.put(call(2));
      recorder.end({});
      ::_exit(0);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    recorder.put(call(3));
    recorder.end({});
  }

  const Story all = recording::tell(bytes_of(path)).story.value();

  EXPECT_EQ(all.verdict, "ended");
  EXPECT_EQ(all.records.size(), 2u);
}

TEST(RecordFile, OfAProcessThatIsKilledEndsThere) {
  const Directory directory;
  const std::string path = directory.file("run");
  const pid_t child = ::fork();
  if (child == 0) {
    const RecordingProcess process = this_process("");
    ProcessRecorder recorder(sink_of(path, process), process, "fabric");
    recorder.put(call(1));
    (void)::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status));

  const Story all = recording::tell(bytes_of(path)).story.value();

  EXPECT_TRUE(all.truncated);
  ASSERT_EQ(all.records.size(), 1u);
  EXPECT_EQ(all.records[0].name, "rdma_create");
}

TEST(RecordFile, IsNamedAfterTheProcessInADirectory) {
  const Directory directory;
  RecordingProcess process;
  process.host = "a/b";
  process.named = true;
  process.program = "rping";
  process.pid = 812;

  const auto first = open_record_file(directory.path(), process);
  const auto second = open_record_file(directory.path(), process);
  process.named = false;
  const auto unnamed = open_record_file(directory.path(), process);

  EXPECT_EQ(first->path, directory.file("a_b.rping.812.recording"));
  EXPECT_EQ(second->path, directory.file("a_b.rping.812.2.recording"));
  EXPECT_EQ(unnamed->path, directory.file("rping.812.recording"));
}

TEST(RecordFile, IsTheFirstOnesAndOthersSaySo) {
  const Directory directory;
  RecordingProcess process;
  process.pid = 812;

  const auto first = open_record_file(directory.file("run"), process);
  const auto second = open_record_file(directory.file("run"), process);

  EXPECT_EQ(first->path, directory.file("run"));
  EXPECT_FALSE(first->another);
  EXPECT_EQ(second->path, directory.file("run.812"));
  EXPECT_TRUE(second->another);
}

TEST(RecordFile, ThatSomebodyWritesIsNotMadeAnew) {
  const Directory directory;
  const std::string path = directory.file("run");
  std::ofstream(path) << "an old one";

  EXPECT_EQ(*prepare_record_path(path), path);
  EXPECT_EQ(std::filesystem::file_size(path), 0u);

  const auto file = open_record_file(path, RecordingProcess{});
  EXPECT_THAT(prepare_record_path(path).error().sentence, HasSubstr("still records"));
}

TEST(RecordFile, WhereNobodyCanWriteIsRefused) {
  const Directory directory;

  EXPECT_THAT(prepare_record_path(directory.file("no/where")).error().sentence,
              HasSubstr("No such file or directory"));
  EXPECT_THAT(open_record_file(directory.file("no/where"), RecordingProcess{}).error().sentence,
              HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace anyrdma::transport
