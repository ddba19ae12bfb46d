// The fuzz functions of the fault plans' parsers on good plans and on plans spoilt by chance, with
// a fixed start: they run everywhere, not only where libFuzzer does.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sim/schedule/random_stream.h"
#include "transport/fault/plan/fault_json.h"
#include "transport/fault/plan/fuzz/fuzz_fault_plan.h"

namespace anyrdma::fault::fuzz {
namespace {

using sim::RandomStream;

constexpr int kChangesPerSeed = 2000;

std::vector<std::string> seeds(const std::string& name) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator("tests/fuzz/fault/seeds/" + name)) {
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

/// Drops, doubles, moves or changes pieces, so that many plans stay almost right.
std::string spoilt(std::string text, RandomStream& random) {
  for (std::uint64_t n = 1 + random.below(3); n > 0 && !text.empty(); --n) {
    const std::size_t at = random.below(text.size());
    const std::size_t length = std::min<std::size_t>(1 + random.below(12), text.size() - at);
    const std::string piece = text.substr(at, length);
    switch (random.below(4)) {
      case 0:
        text.erase(at, length);
        break;
      case 1:
        text.insert(random.below(text.size()), piece);
        break;
      case 2:
        text[at] = static_cast<char>(random.next());
        break;
      default:
        text[at] = " :->#*%\"{}[]\n019"[random.below(16)];
        break;
    }
  }
  return text;
}

const std::uint8_t* bytes(const std::string& text) {
  return reinterpret_cast<const std::uint8_t*>(text.data());
}

TEST(FaultPlanFuzzReplay, TextIsTakenAsItIsWrittenOrRefused) {
  RandomStream random(1, "fault plans");
  for (const std::string& seed : seeds("fault_plan")) {
    ASSERT_TRUE(FaultPlan::parse(seed)) << FaultPlan::parse(seed).error().to_string();
    for (int i = 0; i < kChangesPerSeed; ++i) {
      const std::string text = spoilt(seed, random);
      fuzz_fault_plan(bytes(text), text.size());
    }
  }
}

TEST(FaultPlanFuzzReplay, JsonIsTakenAsItIsWrittenOrRefused) {
  RandomStream random(1, "fault plans as JSON");
  for (const std::string& seed : seeds("fault_json")) {
    ASSERT_TRUE(parse_json(seed)) << parse_json(seed).error().to_string();
    for (int i = 0; i < kChangesPerSeed; ++i) {
      const std::string text = spoilt(seed, random);
      fuzz_fault_json(bytes(text), text.size());
    }
  }
}

TEST(FaultPlanFuzzReplay, NothingIsWrongWithNothing) {
  EXPECT_EQ(fuzz_fault_plan(nullptr, 0), 0);
  EXPECT_EQ(fuzz_fault_json(nullptr, 0), 0);
}

}  // namespace
}  // namespace anyrdma::fault::fuzz
