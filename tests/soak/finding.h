// How a process of the soak ends, and what it counts until then.
#pragma once

#include <atomic>
#include <cstdint>

namespace anyrdma::soak {

/// Exit statuses. Where a peer was killed, kBroken and kPeerGone are what should happen.
enum class End : int {
  kGood = 0,
  kWrong = 1,     ///< data, or something that no peer's death excuses
  kBroken = 2,    ///< a call or a completion failed
  kPeerGone = 3,  ///< the other side has closed its control socket
};

/// Of all processes together, in memory that they share.
struct Totals {
  std::atomic<std::uint64_t> steps;
  std::atomic<std::uint64_t> messages;
  std::atomic<std::uint64_t> bytes;
  std::atomic<std::uint64_t> lost;  ///< messages of unreliable services
  std::atomic<std::uint64_t> troubles;
};

/// Where this process is, for whoever reads what it says.
struct Place {
  const char* role = "";
  std::uint64_t seed = 0;
  std::uint64_t round = 0;
};
void set_place(const Place& place);
Totals& totals();

/// Says what is wrong, and ends the process without running anything else.
[[noreturn]] void end_with(End end, const char* format, ...) __attribute__((format(printf, 2, 3)));
/// kBroken with the name of the call and errno.
[[noreturn]] void end_with_errno(const char* call);
/// The same, unless `good`.
inline void require(bool good, const char* call) {
  if (!good) end_with_errno(call);
}

}  // namespace anyrdma::soak
