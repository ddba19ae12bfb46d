// Randomness that a test can predict.
#pragma once

#include <cstdint>

#include "verbs/random.h"

namespace anyrdma::transport::soft::testing {

/// SplitMix64 from a fixed seed.
class TestRandom final : public verbs::Random {
 public:
  explicit TestRandom(std::uint64_t seed = 1) : state_(seed) {}
  std::uint64_t next() override {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

}  // namespace anyrdma::transport::soft::testing
