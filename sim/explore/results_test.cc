#include "sim/explore/results.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>
#include <vector>

#include "sim/host.h"
#include "sim/world.h"

namespace anyrdma::sim::testing {
namespace {

using ::testing::HasSubstr;

/// Goes wrong with some seeds, in two ways, where the device goes while the program sleeps.
Outcome frail(const Trial& trial) {
  World world(trial.seed, trial.options());
  Host& host = world.add_host("host", {"10.0.0.1"});
  (void)world.faults().inject(trial.plan).has_value();
  host.spawn("main", [&host] { (void)host.sleep(std::chrono::seconds(1)); });
  Outcome outcome = finish(world);
  const bool gone = !host.devices().has("anyrdma0");
  sometimes("the device went", gone);
  sometimes("never", false);
  if (gone && trial.seed % 3 == 0) outcome.problem = "missed 3 things\nand more\\ \x1b[0m";
  if (trial.seed % 10 == 7) outcome.problem = "seven\n";
  return outcome;
}

ExploreOptions all_seeds() {
  ExploreOptions options{.runs = 60, .keep_going = true, .command = "again"};
  options.menu =
      FaultPlan::parse("at 5ms: remove host anyrdma0\non host->host DREQ 1: lose")->faults;
  options.placed = {RemoveDevice{"host", "anyrdma0"}};
  return options;
}

Results results_of(ExploreOptions options, std::uint64_t shard, std::uint64_t shards) {
  options.shard = shard;
  options.shards = shards;
  return {.shards = shards,
          .shard = shard,
          .writer = "a test",
          .scenario = "frail",
          .options = {{"seeds", "60"}, {"faults", "two of them"}},
          .milliseconds = 10 + shard,
          .found = explore(options, frail)};
}

std::vector<NamedResults> parts_of(std::uint64_t shards) {
  std::vector<NamedResults> parts;
  for (std::uint64_t i = 0; i < shards; ++i) {
    const std::string text = results_of(all_seeds(), i, shards).to_text();
    const auto read = Results::parse(text);
    EXPECT_TRUE(read) << read.error().sentence;
    if (read) parts.emplace_back("file " + std::to_string(i), *read);
  }
  return parts;
}

/// All that it says but for how long it took.
std::string report(Results results) {
  results.milliseconds = 0;
  std::string text = results.to_text() + results.found.to_string() + results.found.sightings();
  if (results.found.failure) text += results.found.failure->to_string();
  for (const auto& [name, kind] : results.found.kinds) text += kind.first.to_test(name);
  return text;
}

TEST(Results, OfAllShardsAddUpToThoseOfARunInOnePiece) {
  const std::string whole = report(results_of(all_seeds(), 0, 1));
  EXPECT_THAT(whole, HasSubstr("kind 6 seven"));
  EXPECT_THAT(whole, HasSubstr("missed # things"));
  EXPECT_THAT(whole, HasSubstr("never fired: maybe on host->host DREQ 1: lose"));
  for (const std::uint64_t shards : {1u, 2u, 3u, 7u, 100u}) {
    auto parts = parts_of(shards);
    std::reverse(parts.begin(), parts.end());

    const auto sum = merge(parts);

    ASSERT_TRUE(sum) << sum.error().sentence;
    EXPECT_EQ(report(*sum), whole) << shards;
  }
}

TEST(Results, AreReadAsTheyAreWritten) {
  Results results = results_of(all_seeds(), 2, 4);  // with seed 7
  results.found.differs = "two lines\nthe second without its end";
  results.found.out_of_time = true;
  const std::string text = results.to_text();

  const auto again = Results::parse(text);

  ASSERT_TRUE(again) << again.error().sentence;
  EXPECT_EQ(again->to_text(), text);
  EXPECT_EQ(again->found.differs, results.found.differs);
  EXPECT_TRUE(again->found.out_of_time);
  ASSERT_TRUE(again->found.failure);
  EXPECT_EQ(again->found.failure->to_string(), results.found.failure->to_string());
}

TEST(Results, WithoutAShardAreNoneUnlessPartsAreWanted) {
  auto parts = parts_of(7);
  parts.erase(parts.begin() + 2);
  parts.erase(parts.begin() + 4, parts.begin() + 6);

  EXPECT_THAT(merge(parts).error().sentence,
              HasSubstr("of 7 shards of 'frail' these are missing: 2, 5-6. To do without"));
  EXPECT_EQ(missing_shards(parts), "2, 5-6");
  const auto sum = merge(parts, true);
  ASSERT_TRUE(sum);
  EXPECT_LT(sum->found.runs, 60u);
}

TEST(Results, OfAShardCountOnce) {
  auto parts = parts_of(3);
  parts.emplace_back("a copy", parts[1].second);

  EXPECT_EQ(merge(parts).error().sentence, "a copy and file 1 are both shard 1 of 3.");
  EXPECT_EQ(merge(parts, true).error().sentence, "a copy and file 1 are both shard 1 of 3.");
}

TEST(Results, OfOtherExplorationsAreRefused) {
  const auto parts = parts_of(2);
  const auto refused = [&](auto&& change) {
    auto others = parts;
    change(others[1].second);
    return merge(others, true).error().sentence;
  };
  const std::string begin = "file 1 is of another search than file 0: ";
  EXPECT_EQ(refused([](Results& of) { of.scenario = "firm"; }),
            begin + "scenario 'firm', not 'frail'.");
  EXPECT_EQ(refused([](Results& of) { of.writer = "who"; }),
            begin + "written by 'who', not 'a test'.");
  EXPECT_EQ(refused([](Results& of) { of.shards = 5; }), begin + "of 5 shards, not of 2.");
  EXPECT_EQ(refused([](Results& of) { of.options[0].second = "61"; }),
            begin + "option 'seeds 61', not 'seeds 60'.");
  EXPECT_EQ(refused([](Results& of) { of.options.pop_back(); }),
            begin + "option 'nothing', not 'faults two of them'.");
}

TEST(Results, ThatWereInterruptedAreNotTakenForAll) {
  auto parts = parts_of(2);
  parts[1].second.found.interrupted = true;

  EXPECT_THAT(merge(parts).error().sentence,
              HasSubstr("file 1 was interrupted after 30 runs. Run it again"));
  const auto sum = merge(parts, true);
  ASSERT_TRUE(sum);
  EXPECT_TRUE(sum->found.interrupted);
}

constexpr const char* kText =
    "anyrdma results 1\nwritten by a test\nscenario frail\noption seeds 60\nshard 0 of 2\nruns 30\n"
    "milliseconds 1\nended whole\nfired 3 at 1s: cut a->b\nsituation 2 30 late\n"
    "kind 2 seven #\nplace 2 7\nhash 0x00000000000000ff\nfaults 1\ncommand again\n"
    "trial\n| seed 7\nproblem\n| seven 7\nend\n";

TEST(Results, BadInputIsRefusedWithItsLine) {
  ASSERT_TRUE(Results::parse(kText)) << Results::parse(kText).error().sentence;
  struct Case {
    const char* good;
    const char* bad;
    const char* error;
  };
  const Case cases[] = {
      {"results 1", "results 2", "line 1: expected 'anyrdma results 1'"},
      {"written by", "made by", "line 2: expected 'written by'"},
      {"option seeds 60", "option seeds", "line 4: an option has a name and a value"},
      {"shard 0 of 2", "shard 2 of 2", "line 5: shards are numbered from 0"},
      {"shard 0 of 2", "shard 0 of 0", "line 5: shards are numbered from 0"},
      {"shard 0 of 2", "shard 0/2", "line 5: '0/2' is no number"},
      {"runs 30", "runs -1", "line 6: '-1' is no number"},
      {"runs 30", "runs 18446744073709551616", "line 6: '18446744073709551616' is no number"},
      {"runs 30", "runs 30 40", "line 6: one number is enough"},
      {"runs 30\n", "", "line 6: expected 'runs'"},
      {"ended whole", "ended well", "line 8: a search ended"},
      {"fired 3", "fired 31", "line 9: the number is larger than that of the runs"},
      {"fired 3 at", "fired 3 x\nfired 3 x\nfired 3 at", "line 10: that fault is listed twice"},
      {"situation 2 30", "situation 31 30", "line 10: the number is larger than that of the runs"},
      {"situation 2 30", "situation 2 31", "line 10: the number is larger than that of the runs"},
      {"kind 2 seven", "kind 31 seven", "line 19: the number is larger than that of the runs"},
      {"kind 2 seven", "kind 0 seven", "line 19: the number is larger than that of the runs"},
      {"seven #", "seven \\", "line 11: a backslash is written"},
      {"place 2 7", "place ", "line 12: '' is no number"},
      {"0x00000000000000ff", "0xff", "line 13: a hash is 0x"},
      {"0x00000000000000ff", "0x000000000000000g", "line 13: a hash is 0x"},
      {"| seed 7", "| seed x", "line 17: the trial above is invalid: line 1"},
      {"| seed 7", "|seed 7", "line 17: '| ' begins a line of text"},
      {"seven 7\nend\n", "seven 7\n", "line 20: expected 'end'"},
      {"seven 7\nend\n", "seven 7\nend", "line 20: expected 'end'"},
      {"seven 7\nend\n", "seven 7\nend\nend\n", "line 20: nothing follows 'end'"},
  };
  for (const Case& each : cases) {
    std::string text = kText;
    text.replace(text.find(each.good), std::string(each.good).size(), each.bad);
    const auto read = Results::parse(text);
    ASSERT_FALSE(read) << each.bad;
    EXPECT_THAT(read.error().sentence, HasSubstr(each.error)) << each.bad;
  }
  EXPECT_FALSE(Results::parse(""));
}

TEST(Results, CutOffAnywhereAreRefused) {
  const std::string text = kText;
  for (std::size_t size = 0; size < text.size(); ++size)
    EXPECT_FALSE(Results::parse(text.substr(0, size))) << size;
}

}  // namespace
}  // namespace anyrdma::sim::testing
