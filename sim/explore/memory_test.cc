// Weak memory in trials and searches: as text, as data, and made small.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "sim/explore/explore.h"
#include "sim/testing/end.h"
#include "sim/world.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;

std::string reason_of(std::string_view text) {
  const auto trial = Trial::parse(text);
  return trial ? "" : trial.error().to_string();
}

TEST(MemoryOfTrials, IsPrintedAndReadAgain) {
  for (const std::string text :
       {"seed 7; memory spec", "seed 7; memory relaxed given",
        "seed 7; memory spec given 12:1 40:3", "seed 7; memory unordered; set connections 2"}) {
    const auto trial = Trial::parse(text);
    ASSERT_TRUE(trial) << text;
    EXPECT_EQ(trial->to_string(), text);
  }
  EXPECT_EQ(Trial{}.to_string(), "seed 1");
}

TEST(MemoryOfTrials, IsRefusedWithAReasonWhereItIsNone) {
  EXPECT_EQ(reason_of("memory weak"),
            "line 1: no such memory 'weak': strict, spec, relaxed or unordered");
  EXPECT_EQ(reason_of("memory"), "line 1: no such memory '': strict, spec, relaxed or unordered");
  EXPECT_EQ(reason_of("seed 1; memory spec drawn"),
            "line 2: memory PROFILE given POINT:NUMBER..., not 'drawn'");
  EXPECT_EQ(reason_of("memory spec given 12"), "line 1: a choice is POINT:NUMBER, not '12'");
  EXPECT_EQ(reason_of("memory spec given 40:1 12:1"), "line 1: the points of choices ascend");
}

/// A client writes a word to a server, and changes it before (or, as it should, after) its
/// completion.
Outcome reuse_source(const Trial& trial, bool waits) {
  WorldOptions base;
  base.tracing = Tracing::kHash;
  World world(trial.seed, trial.options(base));
  Host& one = world.add_host("client", {"10.0.0.1"});
  Host& other = world.add_host("server", {"10.0.0.2"});
  End client(one);
  End server(other);
  client.make_qp(IBV_QPT_RC);
  server.make_qp(IBV_QPT_RC);
  client.connect(server);
  server.connect(client);
  one.spawn("client", [&] {
    for (std::uint64_t i = 1; i <= 20; ++i) {
      client.words[0] = i;
      client.access(IBV_WR_RDMA_WRITE, server, server.mr->rkey);
      if (waits) {
        EXPECT_TRUE(one.sleep(1ms));
      }
      client.words[0] = 1000;
      EXPECT_TRUE(one.sleep(1ms));
      EXPECT_EQ(client.statuses(), Statuses{IBV_WC_SUCCESS});
    }
  });
  Outcome outcome = finish(world);
  if (server.words[0] != 20 && outcome.problem.empty()) outcome.problem = "the wrong word\n";
  return outcome;
}

ExploreOptions search() {
  ExploreOptions options{.runs = 40};
  options.memories = {MemoryProfile::kStrict, MemoryProfile::kSpec};
  return options;
}

TEST(MemoryInSearches, ASourceThatIsReusedTooSoonIsFoundAndShrunkToOneChoice) {
  const Exploration found =
      explore(search(), [](const Trial& trial) { return reuse_source(trial, false); });

  ASSERT_TRUE(found.failure);
  const Memory& memory = found.failure->trial.memory;
  EXPECT_EQ(memory.profile, MemoryProfile::kSpec);
  ASSERT_TRUE(memory.given);
  EXPECT_EQ(memory.given->size(), 1u) << found.failure->to_string();
  EXPECT_EQ(reuse_source(found.failure->trial, false).problem, "the wrong word\n");
}

TEST(MemoryInSearches, ASourceThatIsReusedAfterItsCompletionIsRight) {
  const Exploration found =
      explore(search(), [](const Trial& trial) { return reuse_source(trial, true); });

  EXPECT_FALSE(found.failure) << found.failure->to_string();
}

TEST(MemoryInSearches, TheSameTrialMakesTheSameChoices) {
  const Trial trial{.seed = 3, .memory = {.profile = MemoryProfile::kSpec}};
  const Outcome once = reuse_source(trial, true);
  EXPECT_FALSE(once.memory.empty());
  EXPECT_EQ(reuse_source(trial, true).memory, once.memory);

  Trial given = trial;
  given.memory.given = once.memory;
  const Outcome again = reuse_source(given, true);
  EXPECT_EQ(again.memory, once.memory);
  EXPECT_EQ(again.trace_hash, once.trace_hash);
  EXPECT_TRUE(reuse_source({.seed = 3}, true).memory.empty());
}

TEST(MemoryInSearches, WithoutAChoiceOfWeakMemoryADeviceIsStrict) {
  const Trial none{.seed = 3, .memory = {.profile = MemoryProfile::kSpec, .given = {{}}}};
  EXPECT_EQ(reuse_source(none, true).trace_hash, reuse_source({.seed = 3}, true).trace_hash);
}

}  // namespace
}  // namespace anyrdma::sim::testing
