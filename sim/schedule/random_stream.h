// Named streams of random numbers. Each user of random numbers has a stream of its own, so that a
// new user does not change the numbers of the others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/schedule/seeds.h"
#include "verbs/random.h"

namespace anyrdma::sim {

/// xoshiro256** seeded from (seed, name). The same numbers on every compiler and machine.
class RandomStream final : public verbs::Random {
 public:
  RandomStream(std::uint64_t seed, std::string_view name);
  /// A stream that restarts from the new seed when the run changes its seed (seeds.h). `seeds` must
  /// outlive it.
  RandomStream(const Seeds& seeds, std::string_view name);
  std::uint64_t next() override;
  /// True with the given probability, 0 to 1. Draws nothing for exactly 0.
  [[nodiscard]] bool chance(double probability);

 private:
  void begin(std::uint64_t seed);

  std::uint64_t name_;  ///< hashed
  const Seeds* seeds_ = nullptr;
  std::size_t taken_ = 0;  ///< branches, when it last began
  std::array<std::uint64_t, 4> state_;
};

}  // namespace anyrdma::sim
