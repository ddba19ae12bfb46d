// Watchpoints of a whole run, forward and backward, with debug registers and without.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/debug/cluster/cluster.h"
#include "sim/debug/protocol/hex.h"
#include "sim/debug/protocol/packet.h"
#include "sim/host.h"
#include "sim/programs/supervisor/sandbox.h"
#include "sim/world.h"
#include "verbs/time.h"

namespace anyrdma::sim::debug {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::string_view kGoesOn = "vCont;c";
constexpr std::string_view kGoesBack = "bc";
constexpr std::string_view kSteps = "vCont;s:p1.-1";
constexpr std::string_view kNumber = "m10000000,4";

/// A gdb that sends these packets, each when the one before has been answered, and then leaves.
class Script final : public Connection {
 public:
  struct Heard {
    std::vector<std::string> answers;  ///< to the packets, in their order
    std::string console;               ///< what gdb prints
  };
  Script(std::deque<std::string> packets, Heard& heard)
      : packets_(std::move(packets)), heard_(heard) {}

  bool send(std::string_view bytes) override {
    reader_.append(bytes);
    while (const auto packet = reader_.next()) {
      if (packet->payload.starts_with("O") && packet->payload != "OK") {
        heard_.console += from_hex(packet->payload.substr(1)).value_or("?");
      } else {
        heard_.answers.push_back(packet->payload);
      }
    }
    return true;
  }
  std::optional<std::string> receive() override {
    if (packets_.empty()) return std::nullopt;
    std::string packet = framed(packets_.front());
    packets_.pop_front();
    return packet;
  }
  std::optional<std::string> receive_now() override { return std::string(); }

 private:
  std::deque<std::string> packets_;
  Heard& heard_;
  PacketReader reader_;
};

/// Runs the program under this gdb, as often as it goes back.
Script::Heard debug(Watching watching, const std::vector<std::string_view>& packets) {
  Script::Heard heard;
  std::deque<std::string> all{"QStartNoAckMode"};
  all.insert(all.end(), packets.begin(), packets.end());
  Cluster cluster(std::make_unique<Script>(std::move(all), heard), watching);
  do {
    World world{1};
    Host& host = world.add_host("host", {"10.0.0.1"});
    programs::Sandbox sandbox(world, {.debugger = &cluster});
    const std::string path = "sim/debug/cluster/watched";
    if (!sandbox.start(host, "watched", {.path = path, .arguments = {path}, .environment = {}})) {
      ADD_FAILURE() << path << " does not start";
      return heard;
    }
    (void)world.run_until([&] { return sandbox.all_ended() || sandbox.is_interrupted(); },
                          verbs::Instant{} + std::chrono::seconds(1));
  } while (cluster.runs_again());
  heard.answers.erase(heard.answers.begin());
  return heard;
}

class WatchingTest : public ::testing::TestWithParam<Watching> {};

constexpr std::string_view kWatch = "Z2,10000000,4";

TEST_P(WatchingTest, StopsBehindEachWriteOfAnyThread) {
  const auto heard = debug(
      GetParam(), {kWatch, kGoesOn, kNumber, kGoesOn, kNumber, kGoesOn, kNumber, kGoesOn, kNumber});
  const auto is_hit = StartsWith("T05watch:10000000;thread:p1.1");
  EXPECT_THAT(heard.answers,
              ElementsAre("OK", is_hit, "01000000", is_hit, "02000000", is_hit, "03000000",
                          StartsWith("T05watch:10000000;thread:p1.2"), "04000000"));
}

TEST_P(WatchingTest, GoesBackToTheInstructionsThatWriteAndThenToTheBeginning) {
  const auto heard =
      debug(GetParam(), {kWatch, kGoesOn, kGoesOn, kGoesOn, kGoesOn, kGoesBack, kNumber, kGoesBack,
                         kNumber, kSteps, kNumber, kGoesBack, kNumber, kGoesBack, kNumber,
                         kGoesBack, kNumber, kGoesBack});
  const std::vector<std::string> back(heard.answers.begin() + 5, heard.answers.end());
  const auto is_hit = StartsWith("T05watch:10000000;thread:p1.1");
  EXPECT_THAT(back, ElementsAre(StartsWith("T05watch:10000000;thread:p1.2"), "03000000", is_hit,
                                "02000000", is_hit, "03000000", is_hit, "02000000", is_hit,
                                "01000000", is_hit, "00000000", StartsWith("T05replaylog:begin")));
}

INSTANTIATE_TEST_SUITE_P(Both, WatchingTest,
                         ::testing::Values(Watching::kBest, Watching::kComparing),
                         [](const auto& way) {
                           return way.param == Watching::kBest ? "Best" : "Comparing";
                         });

TEST(ComparingTest, RefusesToWatchReadsAndSaysWhy) {
  const auto heard = debug(Watching::kComparing, {"Z4,10000000,4", kWatch, kGoesOn});
  EXPECT_THAT(heard.answers, ElementsAre(StartsWith("E"), "OK", StartsWith("T05watch:10000000;")));
  EXPECT_THAT(heard.console, HasSubstr("awatch is refused"));
  EXPECT_THAT(heard.console, HasSubstr("changes and changes back in between is not seen"));
}

TEST(ComparingTest, LooksForNoInstructionInARunThatTheUserHasChanged) {
  const auto heard =
      debug(Watching::kComparing, {kWatch, kGoesOn, "M10000000,4:09000000", kGoesOn, kNumber});
  EXPECT_THAT(heard.answers, ElementsAre("OK", StartsWith("T05watch:"), "OK",
                                         StartsWith("T05watch:"), "03000000"));
  EXPECT_THAT(heard.console, HasSubstr("not looked for"));
}

}  // namespace
}  // namespace anyrdma::sim::debug
