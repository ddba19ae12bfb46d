// Faults that come at an instant that chance draws, and faults that end.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>

#include "sim/process.h"
#include "sim/testing/faulted_pair.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

/// Two hosts, each with a program that counts milliseconds.
class Lasting : public ::testing::Test {
 protected:
  explicit Lasting(std::uint64_t seed = 1) : world(seed, {.tracing = Tracing::kKeep}) {
    host.on_start(
        "count", [this] { count(counted); }, Ending::kMayServe);
    other.spawn(
        "count", [this] { count(other_counted); }, Ending::kMayServe);
  }

  static void count(int& number) {
    while (Host::current()->sleep(1ms)) ++number;
  }
  void inject(const std::string& text) {
    const auto plan = FaultPlan::parse(text);
    ASSERT_TRUE(plan) << plan.error().to_string();
    const auto injected = world.faults().inject(*plan);
    ASSERT_TRUE(injected) << injected.error().to_string();
  }
  [[nodiscard]] int counted_until(Duration end) {
    world.run_for(end - world.now().time_since_epoch());
    return counted;
  }

  World world;
  Host& host = world.add_host("host", {"10.0.0.1"});
  Host& other = world.add_host("other", {"10.0.0.2"});
  int counted = 0;
  int other_counted = 0;
};

TEST_F(Lasting, ACrashForATimeEndsWithARestart) {
  inject("at 100ms: crash host for 300ms");

  const int before = counted_until(100ms);
  EXPECT_EQ(counted_until(399ms), before);
  EXPECT_TRUE(host.power().off());
  EXPECT_TRUE(world.faults().will_restart("host"));
  EXPECT_GT(counted_until(500ms), before);
  EXPECT_FALSE(world.faults().will_restart("host"));
  EXPECT_TRUE(world.faults().may_restart("host"));
  EXPECT_FALSE(world.faults().may_restart("other"));
  EXPECT_THAT(world.trace().text(), HasSubstr("at 100ms: crash host for 300ms"));
  EXPECT_THAT(world.trace().text(), HasSubstr("the end of at 100ms: crash host for 300ms"));
}

TEST_F(Lasting, WhatSomebodyElseHasStartedMeanwhileGoesOn) {
  inject("at 100ms: crash host for 300ms\nat 200ms: restart host\n");

  (void)counted_until(390ms);
  const int running = counted;
  EXPECT_GT(counted_until(410ms), running + 15);
}

TEST_F(Lasting, ASecondCrashOfAHostThatIsOffEndsNothing) {
  inject("at 100ms: crash host\nat 200ms: crash host for 1ms\n");

  const int before = counted_until(150ms);
  EXPECT_EQ(counted_until(300ms), before);
  EXPECT_EQ(world.faults().status()[1].observed, 0u);
}

TEST_F(Lasting, APauseForATimeLosesNothing) {
  inject("at 100500us: pause host for 300ms");

  const int before = counted_until(110ms);
  EXPECT_EQ(before, 100);
  EXPECT_EQ(counted_until(400ms), before);
  EXPECT_EQ(counted_until(410600us), before + 11);  // one millisecond was over meanwhile
  EXPECT_EQ(other_counted, 410);
}

TEST_F(Lasting, EachTimeAFaultIsPulledItLastsAnew) {
  int events = 0;
  host.spawn("call", [&] {
    for (; events < 3; ++events) {
      Host::current()->sleep(100ms);
      (void)cm::EventChannel::create(host.transport()).value();
    }
  });
  inject("on host call create_event_channel all: pause host/count for 50ms");

  world.run_for(310ms);

  EXPECT_EQ(world.faults().status()[0].fired, 3u);
  EXPECT_NEAR(counted, 310 - 110, 3);  // the last one has not ended
}

TEST_F(Lasting, AProgramStandsStillAloneAndItsHostGoesOn) {
  int neighbour = 0;
  host.spawn(
      "neighbour", [&] { count(neighbour); }, Ending::kMayServe);
  inject("at 100500us: pause host/count\nat 300500us: resume host/count\n");

  EXPECT_EQ(counted_until(300ms), 100);
  EXPECT_EQ(neighbour, 300);
  EXPECT_THAT(world.stuck_report(), HasSubstr("host/count cannot run: it is paused"));
  EXPECT_EQ(counted_until(310600us), 111);
}

TEST_F(Lasting, AProcessStandsStillWithAllItsThreads) {
  int first = 0;
  int second = 0;
  const auto body = [](int& number) {
    return [&number] {
      Host::current()->spawn(
          "helper", [&number] { count(number); }, Ending::kMayServe);
      Host::current()->sleep(10s);
    };
  };
  host.spawn_process("twin", body(first), Ending::kMayServe);
  host.spawn_process("twin", body(second), Ending::kMayServe);
  inject("at 100500us: pause host/twin#2 for 100ms");

  world.run_for(200ms);

  EXPECT_GT(first, 195);
  EXPECT_EQ(second, 100);
}

TEST_F(Lasting, AProgramThatIsPausedOnAPausedHostWaitsForBoth) {
  inject("at 100500us: pause host for 100ms\nat 150500us: pause host/count for 100ms\n");

  EXPECT_EQ(counted_until(249ms), 100);
  EXPECT_EQ(counted_until(261ms), 111);
}

TEST_F(Lasting, AProgramThatIsPausedCanBeKilledAndItsHostCrash) {
  host.spawn_process("killed", [] { Host::current()->sleep(10s); });
  inject(
      "at 100ms: pause host/killed\nat 100ms: pause host/count for 50ms\n"
      "at 120ms: kill host/killed\nat 130ms: crash host for 10ms\n");

  EXPECT_TRUE(counted_until(200ms) > 100);
  EXPECT_EQ(world.faults().status()[2].observed, 1u);
}

TEST_F(Lasting, APathThatWasCutOrSlowIsAsBefore) {
  world.set_path(host, other, {.latency = 7us});
  inject(
      "at 1s: cut host<->other for 1s\nat 1s: slow host->other 5ms for 500ms\n"
      "at 3s: clog other->host for 1s\n");

  world.run_for(1100ms);
  EXPECT_TRUE(world.path(host, other).down);
  EXPECT_EQ(world.path(host, other).latency, 5ms);
  world.run_for(1s);
  EXPECT_FALSE(world.path(host, other).down);
  EXPECT_FALSE(world.path(other, host).down);
  EXPECT_EQ(world.path(host, other).latency, 7us);
  world.run_for(1s);
  EXPECT_TRUE(world.path(other, host).clogged);
  world.run_for(1s);
  EXPECT_FALSE(world.path(other, host).clogged);
}

TEST_F(Lasting, ADeviceThatWasRemovedForATimeReturns) {
  inject("at 1s: remove host anyrdma0 for 1s\nat 1s: port-down other anyrdma0 for 1s\n");

  world.run_for(1500ms);
  EXPECT_FALSE(host.devices().has("anyrdma0"));
  world.run_for(1s);
  EXPECT_TRUE(host.devices().has("anyrdma0"));
}

TEST_F(Lasting, NothingEndsOnceFaultsAreOver) {
  inject("at 100ms: pause host for 100ms");
  const int before = counted_until(150ms);

  world.faults().end();

  EXPECT_EQ(counted_until(1s), before);
}

TEST_F(Lasting, AProgramThatIsNotThereCannotBePaused) {
  const auto refusal = [this](const std::string& line) {
    return world.faults().inject(FaultPlan::parse(line).value()).error().reason;
  };

  EXPECT_EQ(refusal("at 1s: pause host/coun"), "no program 'coun' on that host");
  EXPECT_EQ(refusal("at 1s: pause host/count/2"),
            "fibers have names of their own: say host/NAME, not host/count/2");
  EXPECT_EQ(refusal("at 1s: pause hots/count"), "no host 'hots'");
}

std::string instant_of(std::uint64_t seed) {
  World world(seed, {.tracing = Tracing::kKeep});
  (void)world.add_host("host", {"10.0.0.1"});
  const auto plan = FaultPlan::parse("between 100ms and 2s: crash host for 10ms to 1s\n").value();
  EXPECT_TRUE(world.faults().inject(plan));
  world.run_for(4s);
  EXPECT_EQ(world.faults().status()[0].fired, 1u);
  EXPECT_EQ(world.faults().status()[0].armed, 1u);
  EXPECT_EQ(world.faults().status()[0].fault, plan.faults[0]);
  const std::string text = world.trace().text();
  const std::size_t at = text.find("at ");
  return text.substr(at, text.find('\n', at) - at);
}

TEST(Window, TheSeedDrawsTheInstantAndTheTraceHasIt) {
  std::set<std::string> instants;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) instants.insert(instant_of(seed));

  EXPECT_EQ(instants.size(), 8u);
  EXPECT_EQ(instant_of(3), instant_of(3));
  EXPECT_THAT(instant_of(3), HasSubstr(": crash host for "));
  EXPECT_THAT(instant_of(3), Not(HasSubstr(" to ")));
}

}  // namespace
}  // namespace anyrdma::sim::testing
