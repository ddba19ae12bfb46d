// A scenario as two processes and as two fibers: their recordings have the same entries, field by
// field. What differs from run to run (numbers of queue pairs, keys, PSNs) goes by the order of its
// first use.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rdma/rdma_cma.h>

#include <chrono>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "recording/reader.h"
#include "sim/machines/running.h"
#include "sim/world.h"
#include "tests/recorded/scenario.h"

namespace anyrdma::sim {
namespace {

using recording::Entry;
using recording::EntryKind;
using Lines = std::vector<std::string>;

constexpr std::size_t kPlenty = std::size_t{1} << 24;

/// The entries of one host's program as text, by kind.
class Side {
 public:
  void take(const Entry& entry) {
    Entry same = entry;
    same.numbers[0] = 0;
    replace(same);
    std::string line;
    std::size_t numbers = 0;
    std::size_t texts = 0;
    for (const char letter : recording::kShapes[static_cast<std::size_t>(entry.kind)]) {
      line += recording::is_text(letter) ? " " + readable(same.texts[texts++])
                                         : " " + std::to_string(same.numbers[numbers++]);
    }
    lines_[static_cast<int>(entry.kind)].push_back(line);
  }
  [[nodiscard]] const std::map<int, Lines>& lines() const { return lines_; }

 private:
  using Numbers = std::map<std::uint64_t, std::uint64_t>;

  static void rename(Numbers& names, std::uint64_t& number) {
    if (number != 0) number = 1000 + names.try_emplace(number, names.size()).first->second;
  }
  static std::string readable(std::string_view bytes) {
    std::string text = "'";
    for (const char each : bytes) {
      if (each >= ' ' && each <= '~') {
        text += each;
      } else {
        text += "<" + std::to_string(static_cast<std::uint8_t>(each)) + ">";
      }
    }
    return text + "'";
  }
  void replace(Entry& entry) {
    auto& n = entry.numbers;
    switch (entry.kind) {
      case EntryKind::kQueued:
        return replace_parameters(entry);
      case EntryKind::kFetched:
        return replace_ports(entry.texts[0]);
      case EntryKind::kGiven:
        replace_ports(entry.texts[1]);
        return rename(pairs_, n[2]);
      case EntryKind::kOpened:
      case EntryKind::kQueuePairState:
      case EntryKind::kPosted:
      case EntryKind::kCompleted:
      case EntryKind::kHeld:
        return rename(pairs_, n[1]);
      case EntryKind::kAsync:
        return rename(pairs_, n[2]);
      case EntryKind::kKey:
        return rename(keys_, n[1]);
      case EntryKind::kPath:
        rename(pairs_, n[1]);
        rename(peers_, n[2]);
        rename(psns_, n[3]);
        return rename(psns_, n[4]);
      default:
        return;
    }
  }
  /// The client's is one of many. Each address has its size, the port and four bytes.
  void replace_ports(std::string_view& addresses) {
    constexpr std::size_t kEach = 7;
    std::string& bytes = kept_.emplace_back(addresses);
    for (std::size_t at = 0; at + kEach <= bytes.size(); at += kEach) {
      const bool of_server = bytes[at + kEach - 1] == 1;
      if (!of_server) bytes[at + 1] = bytes[at + 2] = '?';
    }
    addresses = bytes;
  }
  /// With the number of the peer's queue pair behind six bytes
  /// (recording/packets/packet_fields.cc).
  void replace_parameters(Entry& entry) {
    constexpr std::size_t kAt = 6;
    std::string& bytes = kept_.emplace_back(entry.texts[0]);
    std::uint32_t number = 0;
    if (bytes.size() < kAt + sizeof number) return;
    std::memcpy(&number, bytes.data() + kAt, sizeof number);
    std::uint64_t name = number;
    rename(peers_, name);
    number = static_cast<std::uint32_t>(name);
    std::memcpy(bytes.data() + kAt, &number, sizeof number);
    entry.texts[0] = bytes;
  }

  std::map<int, Lines> lines_;
  Numbers pairs_;
  Numbers peers_;  ///< of fibers they are the same as the host's own
  Numbers keys_;
  Numbers psns_;
  std::deque<std::string> kept_;
};

/// What every host's program did, as far as devices and ids go.
std::map<std::string, Side> sides_of(std::span<const std::uint8_t> bytes) {
  std::map<std::string, Side> sides;
  std::vector<std::string> hosts;
  recording::Reader reader(bytes);
  Entry entry;
  while (reader.next(entry)) {
    if (entry.kind == EntryKind::kLane) {
      const bool inside = entry.numbers[0] != 0;
      hosts.emplace_back(inside ? hosts[entry.numbers[0] - 1] : std::string(entry.texts[1]));
    }
    switch (entry.kind) {
      case EntryKind::kQueued:
      case EntryKind::kFetched:
      case EntryKind::kAcknowledged:
      case EntryKind::kCalled:
      case EntryKind::kIdState:
      case EntryKind::kGiven:
      case EntryKind::kOpened:
      case EntryKind::kQueuePairState:
      case EntryKind::kPath:
      case EntryKind::kPosted:
      case EntryKind::kCompleted:
      case EntryKind::kHeld:
      case EntryKind::kKey:
      case EntryKind::kSharedQueue:
      case EntryKind::kAsync:
        sides[hosts[entry.numbers[0]]].take(entry);
        break;
      default:  // of the world, not of a program
        break;
    }
  }
  EXPECT_EQ(reader.problem(), "");
  EXPECT_FALSE(reader.truncated());
  return sides;
}

std::map<std::string, Side> recorded(const std::function<void(World&)>& run) {
  const auto sink = std::make_shared<recording::MemorySink>(kPlenty);
  WorldOptions options;
  options.recording = sink;
  {
    World world(7, options);
    run(world);
  }
  return sides_of(sink->bytes());
}

std::map<std::string, Side> as_fibers() {
  return recorded([](World& world) {
    Host& server = world.add_host("server", {"10.0.0.1"});
    Host& client = world.add_host("client", {"10.0.0.2"});
    server.spawn_process("main", [] { EXPECT_EQ(scenario_serve(), 0); });
    client.spawn_process("main", [&client] {
      (void)client.sleep(std::chrono::milliseconds(100));
      EXPECT_EQ(scenario_ask(), 0);
    });
    EXPECT_TRUE(world.run()) << world.stuck_report();
  });
}

std::map<std::string, Side> as_processes() {
  return recorded([](World& world) {
    Programs programs(world);
    ProgramHost& server = programs.add_host("server", {"10.0.0.1"});
    ProgramHost& client = programs.add_host("client", {"10.0.0.2"});
    RunningProgram& serves = server.start({"tests/recorded/scenario", "serve"});
    RunningProgram& asks =
        client.start({"tests/recorded/scenario", "ask"}, {.after = std::chrono::milliseconds(100)});
    EXPECT_TRUE(programs.run()) << programs.stuck_report();
    EXPECT_EQ(serves.exit_status(), 0) << serves.output();
    EXPECT_EQ(asks.exit_status(), 0) << asks.output();
  });
}

class SameEntries : public ::testing::TestWithParam<const char*> {};

TEST_P(SameEntries, OfAProcessAndOfAFiber) {
  const auto fibers = as_fibers();
  const auto processes = as_processes();
  ASSERT_TRUE(fibers.contains(GetParam()) && processes.contains(GetParam()));
  const auto& expected = fibers.at(GetParam()).lines();
  const auto& got = processes.at(GetParam()).lines();

  for (int kind = 0; kind < static_cast<int>(recording::kKinds); ++kind) {
    SCOPED_TRACE("kind " + std::to_string(kind));
    ASSERT_EQ(expected.contains(kind), got.contains(kind));
    if (!expected.contains(kind)) continue;
    EXPECT_EQ(got.at(kind), expected.at(kind));
  }
}

INSTANTIATE_TEST_SUITE_P(Both, SameEntries, ::testing::Values("server", "client"));

TEST(EntriesOfAProcess, SayWithWhatAConnectionWasRejected) {
  const auto processes = as_processes();
  const Lines& events = processes.at("client").lines().at(static_cast<int>(EntryKind::kQueued));

  const std::string rejected = std::to_string(RDMA_CM_EVENT_REJECTED) + " 28 0";
  EXPECT_THAT(events, ::testing::Contains(::testing::AllOf(::testing::HasSubstr(rejected),
                                                           ::testing::HasSubstr("not now"))));
}

}  // namespace
}  // namespace anyrdma::sim
