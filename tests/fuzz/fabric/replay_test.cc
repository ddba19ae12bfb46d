// The fuzz functions of what processes share on random scripts with a fixed start.
#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "transport/fabric/fuzz/fuzz_ring.h"
#include "transport/fabric/rendezvous/fuzz/fuzz_registry.h"
#include "verbs/soft/testing/fake_runtime.h"

namespace anyrdma::transport::fabric::fuzz {
namespace {

using verbs::soft::testing::FakeRandom;

std::vector<std::uint8_t> script(FakeRandom& random, std::uint64_t longest, bool hostile) {
  std::vector<std::uint8_t> bytes(1 + random.below(longest));
  for (std::uint8_t& byte : bytes) {
    byte = static_cast<std::uint8_t>(random.next());
    if (!hostile && byte % 8 == 7) byte = 0;
  }
  return bytes;
}

TEST(FabricFuzzReplay, RingsKeepOrderAndLoseNothing) {
  FakeRandom random;
  for (int i = 0; i < 100; ++i) {
    const auto bytes = script(random, 600, false);
    EXPECT_EQ(fuzz_ring(bytes.data(), bytes.size()), 0);
  }
}

TEST(FabricFuzzReplay, ReadersSurviveStrangersInTheirMemory) {
  FakeRandom random(2);
  for (int i = 0; i < 400; ++i) {
    const auto bytes = script(random, 200, true);
    EXPECT_EQ(fuzz_ring(bytes.data(), bytes.size()), 0);
  }
}

TEST(FabricFuzzReplay, MembersOfOneFileAgreeAsIfTheyWereOne) {
  FakeRandom random(3);
  for (int i = 0; i < 200; ++i) {
    const auto bytes = script(random, 100, true);
    EXPECT_EQ(fuzz_registry(bytes.data(), bytes.size()), 0);
  }
}

TEST(FabricFuzzReplay, AMemberSurvivesStrangersInTheFile) {
  FakeRandom random(4);
  for (int i = 0; i < 200; ++i) {
    const auto bytes = script(random, 100, true);
    EXPECT_EQ(fuzz_registry_attack(bytes.data(), bytes.size()), 0);
  }
  for (const auto& seed :
       std::filesystem::directory_iterator("tests/fuzz/fabric/seeds/registry_attack")) {
    std::ifstream in(seed.path(), std::ios::binary);
    const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(
        fuzz_registry_attack(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()), 0);
  }
}

}  // namespace
}  // namespace anyrdma::transport::fabric::fuzz
