#include "tools/standard_menu.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <set>
#include <string>

#include "tools/scenario_file.h"

namespace anyrdma::tools {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kTwoHosts =
    "host server 10.0.0.1\n"
    "host client 10.0.0.2\n"
    "background server ./kv -s\n"
    "on client ./kv -c\n"
    "on client ./kv -c\n";

constexpr const char* kTwoRails =
    "host server rail0=10.0.0.1/24 rail1/mlx5_1=10.0.1.1/24\n"
    "host client 10.0.0.2\n"
    "background server ./kv -s\n"
    "on client ./kv -c\n"
    "on client ./kv -c\n";

std::string menu_of(const std::string& text, verbs::Duration length = 100ms,
                    verbs::Duration busy = 100ms) {
  const auto scenario = parse_scenario("file", text);
  if (!scenario) ADD_FAILURE() << scenario.error().sentence;
  return scenario ? standard_menu(*scenario, length, busy) : "";
}

/// The kinds of its actions.
std::set<std::string> kinds_in(const std::string& menu) {
  std::set<std::string> kinds;
  const auto plan = sim::FaultPlan::parse(menu);
  if (!plan) ADD_FAILURE() << plan.error().to_string();
  if (!plan) return kinds;
  for (const sim::Fault& fault : plan->faults) {
    kinds.emplace(std::visit([]<class Part>(const Part&) { return Part::kKind; }, fault.action));
  }
  return kinds;
}

TEST(StandardMenu, IsAPlanOfAllKindsForTheHostsAndPrograms) {
  const std::string menu = menu_of(std::string(kTwoRails) + "menu standard\n");

  const std::set<std::string> kinds = kinds_in(menu);
  EXPECT_TRUE(std::ranges::all_of(kinds, is_standard_kind));
  std::string names;
  for (const std::string& kind : kinds) names += " " + kind;
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(standard_kinds(), ',')) + 1, kinds.size())
      << names;
  EXPECT_THAT(menu, HasSubstr("between 0s and 100ms: crash server for 1ms to 10s\n"));
  EXPECT_THAT(menu, HasSubstr("on client->server packet 10%: lose\n"));
  EXPECT_THAT(menu, HasSubstr("between 0s and 100ms: pause client/kv#2 for 1ms to 10s\n"));
  EXPECT_THAT(menu, HasSubstr("between 0s and 100ms: kill server/kv\n"));
  EXPECT_THAT(menu, HasSubstr("on *->server packet 1%: crash server for 1ms to 10s\n"));
  EXPECT_THAT(menu, HasSubstr("on client->* packet 10%: pause client/kv#2 for 1ms to 10s\n"));
  EXPECT_THAT(menu, HasSubstr("between 0s and 100ms: cut client<->server for 1ms to 100s\n"));
}

TEST(StandardMenu, HasFaultsOfEachRailOfAHostWithSeveral) {
  const std::string menu = menu_of(std::string(kTwoRails) + "menu standard\n");

  EXPECT_THAT(menu, HasSubstr("between 0s and 100ms: flap server mlx5_1 5ms every 15ms\n"));
  EXPECT_THAT(menu, HasSubstr("between 0s and 100ms: remove server mlx5_1 for 1ms to 10s\n"));
  EXPECT_THAT(menu, HasSubstr("between 0s and 100ms: cut-rail server rail1 for 1ms to 100s\n"));
  EXPECT_THAT(menu, HasSubstr("slow-rail server rail0 5ms for 1ms to 100s\n"));
  EXPECT_THAT(menu, HasSubstr("on server/rail1->* packet 10%: lose\n"));
  EXPECT_THAT(menu, Not(HasSubstr("flap client")));
}

TEST(StandardMenu, LeavesOutWhatTheFileDoesNotWant) {
  const std::string menu =
      menu_of(std::string(kTwoHosts) + "menu standard except crash, pause,kill\n");

  for (const char* kind : {"crash", "pause", "kill"})
    EXPECT_FALSE(kinds_in(menu).contains(kind)) << kind;
  EXPECT_TRUE(kinds_in(menu).contains("cut"));
}

TEST(StandardMenu, IsEmptyWhereNobodyAsksForIt) {
  EXPECT_EQ(menu_of(std::string(kTwoHosts) + "menu at 1s: crash server\n"), "");
}

TEST(StandardMenu, HasTimesOfTheRun) {
  const std::string text = std::string(kTwoHosts) + "limit 8s\nmenu standard\n";

  EXPECT_THAT(menu_of(text, 2s, 2s), HasSubstr("between 0s and 2s: crash server for 20ms to 2s\n"));
  EXPECT_THAT(menu_of(text, 2s, 0s), HasSubstr("between 0s and 2s: crash server for 10us to 2s\n"));
  EXPECT_THAT(menu_of(text, 0s, 0s),
              HasSubstr("between 0s and 1ms: pause server for 10us to 2s\n"));
  EXPECT_THAT(menu_of(text, 8s, 1ms), HasSubstr("on client->server packet 3%: delay 2ms\n"));
}

TEST(StandardMenu, OfOneHostHasNoPaths) {
  const std::string menu = menu_of("host here 10.0.0.1\non here true\nmenu standard\n");

  EXPECT_THAT(menu, Not(HasSubstr("->")));
  EXPECT_TRUE(kinds_in(menu).contains("pause"));
}

TEST(StandardMenu, OfManyHostsDoesNotNameEachPair) {
  std::string text;
  for (int i = 1; i <= 9; ++i) {
    const std::string number = std::to_string(i);
    text += "host h" + number + " 10.0.0." + number + "\non h" + number + " true\n";
  }

  const std::string menu = menu_of(text + "menu standard\n");

  EXPECT_THAT(menu, HasSubstr("on *->* packet 1%: lose\n"));
  EXPECT_THAT(menu, Not(HasSubstr("h1->h2")));
  EXPECT_TRUE(kinds_in(menu).contains("cut"));
}

}  // namespace
}  // namespace anyrdma::tools
