#include "sim/programs/net/reassembly.h"

#include <gtest/gtest.h>

#include <chrono>
#include <numeric>
#include <optional>
#include <vector>

namespace anyrdma::sim::programs {
namespace {

using namespace std::chrono_literals;

class Parts : public ::testing::Test {
 protected:
  Parts() { std::iota(all.begin(), all.end(), std::uint8_t{0}); }

  std::optional<std::vector<std::uint8_t>> add(std::size_t begin, std::size_t end,
                                               std::uint32_t identification = 1) {
    return reassembly.add(now, packet,
                          {.protocol = recording::kIpUdp,
                           .identification = identification,
                           .offset = begin,
                           .more = end != all.size(),
                           .data = std::span(all).subspan(begin, end - begin)});
  }

  verbs::soft::Packet packet;
  std::vector<std::uint8_t> all = std::vector<std::uint8_t>(100);
  verbs::Instant now{};
  Reassembly reassembly;
};

TEST_F(Parts, MakeTheWholeInAnyOrder) {
  EXPECT_FALSE(add(80, 100));
  EXPECT_FALSE(add(0, 40));
  EXPECT_FALSE(add(0, 40)) << "once more";
  EXPECT_EQ(add(40, 80), all);
  EXPECT_FALSE(add(40, 80)) << "that was all of it";
}

TEST_F(Parts, OfDifferentDatagramsMakeNone) {
  EXPECT_FALSE(add(0, 40, 1));
  EXPECT_FALSE(add(40, 100, 2));
  EXPECT_EQ(add(40, 100, 1), all);
}

TEST_F(Parts, ThatOverlapMakeNone) {
  EXPECT_FALSE(add(0, 48));
  EXPECT_FALSE(add(40, 100));
}

TEST_F(Parts, AreForgottenAfterHalfAMinute) {
  EXPECT_FALSE(add(0, 40));
  now += 31s;
  EXPECT_FALSE(add(40, 100));
}

}  // namespace
}  // namespace anyrdma::sim::programs
