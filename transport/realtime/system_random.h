// Randomness of real time: a generator seeded by the system.
#pragma once

#include <cstdint>
#include <random>

#include "verbs/random.h"

namespace anyrdma::transport::realtime {

/// For what must differ between processes and runs (comm ids, PSNs, ports); not for secrets.
class SystemRandom final : public verbs::Random {
 public:
  SystemRandom() {
    std::random_device device;
    std::seed_seq seed{device(), device(), device(), device()};
    generator_.seed(seed);
  }
  std::uint64_t next() override { return generator_(); }

 private:
  std::mt19937_64 generator_;
};

}  // namespace anyrdma::transport::realtime
