// The fuzz functions of the readers of results, traces, trials and scenarios on seeds and on seeds
// spoilt by chance, with a fixed start: they run everywhere, not only where libFuzzer does.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "recording/packed.h"
#include "sim/explore/results.h"
#include "sim/explore/trial.h"
#include "sim/fuzz/fuzz_destination.h"
#include "sim/fuzz/fuzz_entries.h"
#include "sim/fuzz/fuzz_gdb.h"
#include "sim/fuzz/fuzz_mappings.h"
#include "sim/fuzz/fuzz_results.h"
#include "sim/fuzz/fuzz_trace.h"
#include "sim/fuzz/fuzz_trial.h"
#include "sim/points/entry_queue.h"
#include "sim/schedule/random_stream.h"
#include "sim/trace/trace_reader.h"
#include "tools/fuzz/fuzz_bundle.h"
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

TEST(GdbFuzzReplay, WhateverGdbSendsIsAnsweredByPackets) {
  RandomStream random(1, "gdb");
  for (const std::string& seed : seeds("gdb")) run(fuzz_gdb, seed, random);
}

TEST(DestinationFuzzReplay, IsAMomentOrRefusedInASentence) {
  RandomStream random(1, "destination");
  for (const std::string& seed : seeds("destination")) run(fuzz_destination, seed, random);
}

TEST(BundleFuzzReplay, NoNameLeadsOut) {
  RandomStream random(1, "bundle");
  for (const std::string& seed : seeds("bundle")) run(tools::fuzz::fuzz_bundle, seed, random);
}

TEST(MappingsFuzzReplay, EachMappingThatIsReadHasASize) {
  RandomStream random(1, "mappings");
  for (const std::string& seed : seeds("mappings")) run(fuzz_mappings, seed, random);
}

/// Memory as a program leaves it: entries of most kinds, several times.
std::string shared_memory() {
  using recording::entry_of;
  using recording::EntryKind;
  const auto queue = std::make_unique<EntryQueue>();
  std::array<std::uint8_t, recording::kPackedBytesMax> packed{};
  const auto put = [&](const recording::Entry& entry) {
    EXPECT_TRUE(queue->put(std::span(packed).first(recording::pack(entry, packed))));
  };
  for (std::uint64_t i = 1; i < 5; ++i) {
    put(entry_of<EntryKind::kCalled>(0u, i, "connect", 0u, 0u));
    put(entry_of<EntryKind::kQueued>(0u, i, i - 1, 4u, 28, 0u, std::string(70, 'x')));
    put(entry_of<EntryKind::kFetched>(0u, i, 4u, std::string(14, '\4')));
    put(entry_of<EntryKind::kAcknowledged>(0u, i));
    put(entry_of<EntryKind::kGiven>(0u, i, "accept", 17u, 1u, 1u, 0u, std::string(14, '\4'), "hi"));
    put(entry_of<EntryKind::kOpened>(0u, 17u, 2u, i - 1));
    put(entry_of<EntryKind::kPath>(0u, 17u, 18u, 1u, 2u, 3u, std::string(32, 'g')));
    put(entry_of<EntryKind::kQueuePairState>(0u, 17u, "RTS"));
    put(entry_of<EntryKind::kPosted>(0u, 17u, "SEND", i, 8u, 3u, 0u, 0u, 5u));
    put(entry_of<EntryKind::kPosted>(0u, 0u, "SRQ_RECV", i, 8u, 3u, i, 0u, 5u));
    put(entry_of<EntryKind::kCompleted>(0u, 17u, i, 128u, 0u, 8u, 3u, i - 1, 0u, 5u));
    put(entry_of<EntryKind::kSharedQueue>(0u, i, i - 1, 4u, 2u));
    put(entry_of<EntryKind::kAtomic>(0u, 17u, 1u, 2u, i % 2));
    put(entry_of<EntryKind::kKey>(0u, 256u, i % 2));
    put(entry_of<EntryKind::kHeld>(0u, 17u, i % 3, 1u, 1u, 0u, 0u, 0u, 0u, 0u));
    put(entry_of<EntryKind::kMistake>(0u, "a mistake", "a stack"));
  }
  return {reinterpret_cast<const char*>(queue.get()), 16'384};
}

TEST(EntriesFuzzReplay, WhateverAProcessWritesIsRecordedOrRefused) {
  RandomStream random(1, "entries");
  const std::string memory = shared_memory();
  const auto one = [](const std::string& each) {
    fuzz_entries(reinterpret_cast<const std::uint8_t*>(each.data()), each.size());
  };
  one(memory);
  for (int i = 0; i < kChangesPerSeed; ++i) {
    std::string each = memory;
    for (std::uint64_t changes = 1 + random.below(8); changes != 0; --changes)
      each[random.below(each.size())] = static_cast<char>(random.below(256));
    one(each);
  }
}

TEST(FuzzReplay, NothingIsAnEmptyTraceAndAnEmptyTrial) {
  EXPECT_EQ(fuzz_trace(nullptr, 0), 0);
  EXPECT_EQ(fuzz_entries(nullptr, 0), 0);
  EXPECT_EQ(fuzz_gdb(nullptr, 0), 0);
  EXPECT_EQ(fuzz_trial(nullptr, 0), 0);
  EXPECT_EQ(fuzz_results(nullptr, 0), 0);
  EXPECT_EQ(tools::fuzz::fuzz_scenario(nullptr, 0), 0);
}

}  // namespace
}  // namespace anyrdma::sim::fuzz
