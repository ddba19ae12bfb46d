// The fuzz function on every stored seed, and on inputs made from them with a fixed start.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <vector>

#include "cm/rsocket/fuzz/fuzz_wire.h"

namespace anyrdma::rsocket::fuzz {
namespace {

TEST(FuzzReplay, NoPeerMakesAFlowPromiseWhatItDoesNotHave) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator("tests/fuzz/rsocket/seeds/wire")) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  ASSERT_FALSE(paths.empty());
  std::mt19937 random(1);
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    std::vector<std::uint8_t> seed{std::istreambuf_iterator<char>(in),
                                   std::istreambuf_iterator<char>()};
    EXPECT_EQ(fuzz_wire(seed.data(), seed.size()), 0);
    for (int round = 0; round < 20000; ++round) {
      std::vector<std::uint8_t> bytes = seed;
      bytes.resize(bytes.size() + random() % 64);
      for (std::size_t n = random() % 16; n > 0; --n) {
        bytes[1 + random() % (bytes.size() - 1)] = static_cast<std::uint8_t>(random());
      }
      EXPECT_EQ(fuzz_wire(bytes.data(), bytes.size()), 0);
    }
  }
}

}  // namespace
}  // namespace anyrdma::rsocket::fuzz
