// Very many connections at once between two hosts, by event-driven programs: one fiber a host, not
// one a connection.
#pragma once

#include <cstdint>
#include <functional>

#include "sim/options.h"

namespace anyrdma::sim::testing {

struct CrowdPlan {
  std::uint32_t connections = 1000;
  /// The server's. A client has 28,232 ephemeral ports towards each, as on Linux.
  std::uint16_t ports = 1;
  /// How many come up, talk or go down at a time; less than the backlog of 1024.
  std::uint32_t at_once = 512;
  Tracing tracing = Tracing::kOff;
};

/// How many got how far.
struct CrowdResult {
  bool at_rest = false;        ///< nobody waits for what never comes
  std::uint32_t up = 0;        ///< connections that were there at the same time
  std::uint32_t answered = 0;  ///< their messages that came back as they were meant to
  std::uint32_t down = 0;      ///< disconnected and destroyed on both sides
  std::uint64_t hash = 0;      ///< of the trace
};

/// All connections come up; each carries a message there and another back; `at_peak`, if given, is
/// called; then all go down, the youngest first.
[[nodiscard]] CrowdResult run_crowd(const CrowdPlan& plan,
                                    const std::function<void()>& at_peak = nullptr);

}  // namespace anyrdma::sim::testing
