// Tests in the simulator, to copy from; docs/sim.md explains them and quotes them line by line.
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>

#include "examples/conversation.h"
#include "sim/world.h"

namespace anyrdma::examples {
namespace {

using namespace std::chrono_literals;

/// Two hosts with a program each: what every test here begins with.
struct TwoHosts {
  explicit TwoHosts(std::uint64_t seed, const sim::WorldOptions& options = {})
      : world(seed, options) {
    server.spawn(
        "serve", [this] { serve(server, diary); }, sim::Ending::kMayServe);
    client.spawn("ask", [this] { ask(client, server.address(7471), diary); });
  }

  Diary diary;  // before the world: programs write in it until the world has ended
  sim::World world;
  sim::Host& server = world.add_host("server", {"10.0.0.1"});
  sim::Host& client = world.add_host("client", {"10.0.0.2"});
};

std::size_t count(const Diary& diary, std::string_view what) {
  std::size_t found = 0;
  for (const Entry& entry : diary) found += entry.what.starts_with(what) ? 1 : 0;
  return found;
}

TEST(Simulated, ConversationEndsWithDisconnected) {
  TwoHosts two(7);  // the seed

  ASSERT_TRUE(two.world.run()) << two.world.stuck_report();

  EXPECT_EQ(two.diary.back().what, "id 1 DISCONNECTED");
}

TEST(Simulated, ConversationSurvivesABadLink) {
  TwoHosts two(7);
  two.world.set_link(two.client, two.server,
                     {.latency = 50us, .jitter = 10us, .loss = 0.2, .duplicate = 0.1});

  ASSERT_TRUE(two.world.run()) << two.world.stuck_report();

  EXPECT_EQ(count(two.diary, "the answer is"), 1u);
}

TEST(Simulated, RefusedClientLearnsTheReason) {
  TwoHosts two(7);
  const auto plan = sim::FaultPlan::parse("on server request 1: reject 28 6e6f\n").value();
  ASSERT_TRUE(two.world.faults().inject(plan));

  ASSERT_TRUE(two.world.run()) << two.world.stuck_report();

  EXPECT_EQ(two.diary.back().what, "id 1 REJECTED status 28 \"no\"");
  EXPECT_TRUE(two.world.faults().unfired().empty());
}

TEST(Simulated, RunCanBeStoppedAndGoOn) {
  TwoHosts two(7);

  two.world.run_for(500ms);  // connected, silent
  EXPECT_EQ(count(two.diary, "id 1 DISCONNECTED"), 0u);
  ASSERT_TRUE(two.server.devices().remove("anyrdma0"));
  ASSERT_TRUE(two.world.run_until([&] { return count(two.diary, "id 1 DISCONNECTED") == 1; },
                                  sim::Instant(1s)));
}

TEST(Simulated, SeedDecidesEverything) {
  TwoHosts one(7);
  TwoHosts same(7);
  TwoHosts other(8);
  for (TwoHosts* each : {&one, &same, &other}) ASSERT_TRUE(each->world.run());

  EXPECT_EQ(one.world.trace().hash(), same.world.trace().hash()) << one.world.trace().text();
  EXPECT_NE(one.world.trace().hash(), other.world.trace().hash());
}

TEST(Simulated, CaptureIsForWireshark) {
  sim::WorldOptions options;
  options.capture = true;
  TwoHosts two(7, options);
  ASSERT_TRUE(two.world.run());

  const std::vector<std::uint8_t> pcap = two.world.capture();
  std::ofstream(::testing::TempDir() + "conversation.pcap", std::ios::binary)
      .write(reinterpret_cast<const char*>(pcap.data()), static_cast<long>(pcap.size()));

  EXPECT_GT(pcap.size(), 24u);
}

}  // namespace
}  // namespace anyrdma::examples
