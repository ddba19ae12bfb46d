// Named streams of random numbers. Each part of the simulator that draws random numbers has a
// stream of its own, so that a new part does not change the numbers of the others.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "sim/schedule/seeds.h"
#include "verbs/random.h"

namespace anyrdma::sim {

/// A stream of random numbers (xoshiro256**) that is seeded from a seed and a name. The numbers are
/// the same on every compiler and machine.
class RandomStream final : public verbs::Random {
 public:
  RandomStream(std::uint64_t seed, std::string_view name);
  /// Creates a stream that restarts from the new seed when the run changes its seed (seeds.h).
  /// `seeds` must outlive the stream.
  RandomStream(const Seeds& seeds, std::string_view name);
  std::uint64_t next() override;
  /// Returns true with the given probability, 0 to 1. For exactly 0, the function draws no random
  /// number.
  [[nodiscard]] bool chance(double probability);

 private:
  void begin(std::uint64_t seed);

  std::uint64_t name_;  ///< hashed
  const Seeds* seeds_ = nullptr;
  std::size_t taken_ = 0;  ///< branches, when it last began
  std::array<std::uint64_t, 4> state_;
};

}  // namespace anyrdma::sim
