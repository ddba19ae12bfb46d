// The fuzz functions of the readers of results, traces, trials and scenarios on seeds and on seeds
// spoilt by chance, with a fixed start: they run everywhere, not only where libFuzzer does.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sim/explore/results.h"
#include "sim/explore/trial.h"
#include "sim/fuzz/fuzz_results.h"
#include "sim/fuzz/fuzz_trace.h"
#include "sim/fuzz/fuzz_trial.h"
#include "sim/schedule/random_stream.h"
#include "sim/trace/trace_reader.h"
#include "tools/fuzz/fuzz_scenario.h"
#include "tools/scenario_file.h"

namespace anyrdma::sim::fuzz {
namespace {

constexpr int kChangesPerSeed = 3000;

std::vector<std::string> seeds(const std::string& of) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator("tests/fuzz/sim/seeds/" + of)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<std::string> texts;
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    texts.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  EXPECT_FALSE(texts.empty());
  return texts;
}

/// Drops, doubles or changes a piece.
std::string spoilt(std::string text, RandomStream& random) {
  const std::size_t at = random.below(text.size());
  const std::size_t length = std::min<std::size_t>(1 + random.below(9), text.size() - at);
  switch (random.below(3)) {
    case 0:
      return text.erase(at, length);
    case 1:
      return text.insert(random.below(text.size()), text.substr(at, length));
    default:
      text[at] = " :->#=()\"\n0123"[random.below(14)];
      return text;
  }
}

/// The text, and many that were made from it.
void run(int (*fuzz)(const std::uint8_t*, std::size_t), const std::string& text,
         RandomStream& random) {
  const auto one = [fuzz](const std::string& each) {
    fuzz(reinterpret_cast<const std::uint8_t*>(each.data()), each.size());
  };
  one(text);
  for (int i = 0; i < kChangesPerSeed; ++i) one(spoilt(text, random));
}

TEST(TraceFuzzReplay, TextIsTakenAsItIsWrittenOrRefused) {
  RandomStream random(1, "traces");
  for (const std::string& seed : seeds("trace")) {
    TraceError error;
    ASSERT_TRUE(parse_trace(seed, error)) << error.to_string();
    run(fuzz_trace, seed, random);
  }
}

TEST(TrialFuzzReplay, WhatIsTakenIsWrittenAsTheSameTrial) {
  RandomStream random(1, "trials");
  for (const std::string& seed : seeds("trial")) {
    const auto trial = Trial::parse(seed);
    ASSERT_TRUE(trial) << trial.error().to_string();
    run(fuzz_trial, seed, random);
  }
}

TEST(ResultsFuzzReplay, WhatIsTakenIsWrittenAsTheSameResults) {
  RandomStream random(1, "results");
  for (const std::string& seed : seeds("results")) {
    const auto results = Results::parse(seed);
    ASSERT_TRUE(results) << results.error().sentence;
    run(fuzz_results, seed, random);
  }
}

TEST(ScenarioFuzzReplay, AScenarioIsTakenOrRefusedInASentence) {
  RandomStream random(1, "scenarios");
  for (const std::string& seed : seeds("scenario")) {
    const auto scenario = tools::parse_scenario("seed", seed);
    ASSERT_TRUE(scenario) << scenario.error().sentence;
    run(tools::fuzz::fuzz_scenario, seed, random);
  }
}

TEST(FuzzReplay, NothingIsAnEmptyTraceAndAnEmptyTrial) {
  EXPECT_EQ(fuzz_trace(nullptr, 0), 0);
  EXPECT_EQ(fuzz_trial(nullptr, 0), 0);
  EXPECT_EQ(fuzz_results(nullptr, 0), 0);
  EXPECT_EQ(tools::fuzz::fuzz_scenario(nullptr, 0), 0);
}

}  // namespace
}  // namespace anyrdma::sim::fuzz
