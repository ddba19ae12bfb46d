// The fuzz functions on every stored seed, and on inputs made from the seeds by chance with a fixed
// start, so that they run everywhere and not only where libFuzzer does.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "transport/ibcm/fuzz/fuzz_codecs.h"
#include "transport/ibcm/fuzz/fuzz_machine.h"
#include "transport/ibcm/testing/pair.h"

namespace anyrdma::ibcm::fuzz {
namespace {

using Bytes = std::vector<std::uint8_t>;
using Fuzz = int (*)(const std::uint8_t*, std::size_t);

std::vector<Bytes> seeds_of(const std::string& target) {
  std::vector<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator("tests/fuzz/ibcm/seeds/" + target))
    paths.push_back(entry.path());
  std::sort(paths.begin(), paths.end());
  std::vector<Bytes> seeds;
  for (const auto& path : paths) {
    std::ifstream in(path, std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>());
  }
  return seeds;
}

/// Changes some bytes, cuts or grows the end.
Bytes mutated(Bytes bytes, testing::TestRandom& random) {
  bytes.resize(std::max<std::size_t>(1, bytes.size() + random.below(16) - random.below(8)));
  for (std::uint64_t n = random.below(8); n > 0; --n)
    bytes[random.below(bytes.size())] = static_cast<std::uint8_t>(random.next());
  return bytes;
}

void replay(const std::string& target, Fuzz fuzz, int rounds) {
  testing::TestRandom random(1);
  const std::vector<Bytes> seeds = seeds_of(target);
  ASSERT_FALSE(seeds.empty());
  for (const Bytes& seed : seeds) {
    EXPECT_EQ(fuzz(seed.data(), seed.size()), 0);
    for (int i = 0; i < rounds; ++i) {
      const Bytes bytes = mutated(seed, random);
      EXPECT_EQ(fuzz(bytes.data(), bytes.size()), 0);
    }
  }
}

TEST(FuzzReplay, CodecsBringBackWhatTheyRead) {
  replay("codecs", fuzz_codecs, 2000);
}

TEST(FuzzReplay, MachineKeepsItsInvariants) {
  replay("machine", fuzz_machine, 200);
}

TEST(FuzzReplay, MachineSurvivesRandomScripts) {
  testing::TestRandom random(2);
  for (int i = 0; i < 2000; ++i) {
    Bytes script(1 + random.below(200));
    for (std::uint8_t& byte : script) byte = static_cast<std::uint8_t>(random.next());
    fuzz_machine(script.data(), script.size());
  }
}

TEST(FuzzReplay, NothingIsWrongWithNothing) {
  EXPECT_EQ(fuzz_codecs(nullptr, 0), 0);
  EXPECT_EQ(fuzz_machine(nullptr, 0), 0);
}

}  // namespace
}  // namespace anyrdma::ibcm::fuzz
