// Randomness of real time: a generator seeded by the system.
#pragma once

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <random>

#include "verbs/random.h"

namespace anyrdma::transport::realtime {

/// Random numbers that must differ between processes and runs (comm ids, PSNs, ports); not for
/// secrets.
class SystemRandom final : public verbs::Random {
 public:
  SystemRandom() {
    // From the system, not from the processor as std::random_device may do: a reproducible run
    // needs random numbers that the simulator can replace.
    std::array<std::uint32_t, 8> entropy{};
    while (::getrandom(entropy.data(), sizeof entropy, 0) < 0 && errno == EINTR) continue;
    std::seed_seq seed(entropy.begin(), entropy.end());
    generator_.seed(seed);
  }
  std::uint64_t next() override { return generator_(); }

 private:
  std::mt19937_64 generator_;
};

}  // namespace anyrdma::transport::realtime
