// The fuzz function of the reader of recordings on seeds and on seeds spoilt by chance, with a
// fixed start: it runs everywhere, not only where libFuzzer does.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "recording/fuzz/fuzz_recording.h"
#include "recording/view/story.h"
#include "sim/schedule/random_stream.h"

namespace anyrdma::recording::fuzz {
namespace {

constexpr int kChangesPerSeed = 150;
using Bytes = std::vector<std::uint8_t>;

std::vector<Bytes> seeds() {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry :
       std::filesystem::directory_iterator("tests/fuzz/recording/seeds/recording")) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> all;
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    all.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return all;
}

/// Drops, doubles or changes a piece.
Bytes spoilt(Bytes bytes, sim::RandomStream& random) {
  const auto at = static_cast<std::ptrdiff_t>(random.below(bytes.size()));
  const auto length = static_cast<std::ptrdiff_t>(
      std::min<std::size_t>(1 + random.below(9), bytes.size() - static_cast<std::size_t>(at)));
  switch (random.below(3)) {
    case 0:
      bytes.erase(bytes.begin() + at, bytes.begin() + at + length);
      return bytes;
    case 1: {
      const Bytes piece(bytes.begin() + at, bytes.begin() + at + length);
      bytes.insert(bytes.begin() + at, piece.begin(), piece.end());
      return bytes;
    }
    default:
      bytes[static_cast<std::size_t>(at)] = static_cast<std::uint8_t>(random.below(256));
      return bytes;
  }
}

TEST(RecordingFuzzReplay, WhatIsReadCanBeShown) {
  sim::RandomStream random(1, "recordings");
  const auto all = seeds();
  ASSERT_FALSE(all.empty());
  for (const Bytes& seed : all) {
    ASSERT_TRUE(tell(seed).story) << tell(seed).problem;
    (void)fuzz_recording(seed.data(), seed.size());
    for (int i = 0; i < kChangesPerSeed; ++i) {
      const Bytes each = spoilt(seed, random);
      (void)fuzz_recording(each.data(), each.size());
    }
  }
}

TEST(RecordingFuzzReplay, NothingIsNone) {
  EXPECT_EQ(fuzz_recording(nullptr, 0), 0);
}

}  // namespace
}  // namespace anyrdma::recording::fuzz
