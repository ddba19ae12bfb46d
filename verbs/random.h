// The interface of random numbers. The protocol code gets its random numbers from its caller
// through this interface, never from the system.
#pragma once

#include <cstdint>

namespace anyrdma::verbs {

/// A stream of random bits. In the simulator, each stream has a name and a seed; a real-time
/// transport seeds its stream from the system. Not thread-safe: call it inside the runtime's
/// critical section.
class Random {
 public:
  virtual ~Random() = default;
  /// The next 64 uniformly distributed bits.
  virtual std::uint64_t next() = 0;
  /// Returns a number that is uniformly distributed in [0, bound); `bound` must not be 0. The
  /// result is the same with every compiler.
  std::uint64_t below(std::uint64_t bound) {
    __extension__ using Wide = unsigned __int128;
    return static_cast<std::uint64_t>((static_cast<Wide>(next()) * bound) >> 64);
  }
};

}  // namespace anyrdma::verbs
