// The random numbers of real-time transports: a generator with a seed from the system.
#pragma once

#include <sys/random.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <random>

#include "verbs/random.h"

namespace anyrdma::transport::realtime {

/// Random numbers that must differ between processes and runs, such as comm ids, PSNs and ports.
/// Not for secrets.
class SystemRandom final : public verbs::Random {
 public:
  SystemRandom() {
    // The seed comes from the system, not from the processor, as std::random_device may do. The
    // simulator can replace the system's random numbers, which a reproducible run needs.
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
