// The interface of random numbers. The protocol code gets its random numbers from the caller, never
// from the system.
#pragma once

#include <cstdint>

namespace anyrdma::verbs {

/// A stream of random bits. The simulator names and seeds each stream; a real-time transport
/// seeds one from the system. Not thread-safe: used inside the owner's critical section.
class Random {
 public:
  virtual ~Random() = default;
  /// The next 64 uniformly distributed bits.
  virtual std::uint64_t next() = 0;
  /// Uniform in [0, bound); bound must not be 0. Deterministic across compilers.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }
};

}  // namespace anyrdma::verbs
