// Faults of the network under a Soft-RoCE link, made by the kernel itself: an interface that
// changes its address, loses packets or delays them. Each takes CAP_NET_ADMIN. Works in the network
// namespace of the calling thread.
#pragma once

#include <chrono>
#include <string>

#include "transport/rxe/error.h"
#include "verbs/result.h"

namespace anyrdma::transport::rxe {

using verbs::Result;

/// Adds an address, "10.9.0.1/24": its GID appears in the device's table a moment later. Errors:
/// EINVAL: not an address; kNoInterface; kNotPermitted; EEXIST.
[[nodiscard]] Result<void> add_address(const std::string& interface, const std::string& address);
/// Takes it away, and its GID with it. Errors: as above; EADDRNOTAVAIL: it does not have it.
[[nodiscard]] Result<void> remove_address(const std::string& interface, const std::string& address);

/// What happens to the packets that leave an interface (tc-netem(8)).
struct Impairment {
  double loss = 0;                      ///< probability, 0 to 1, that a packet vanishes
  std::chrono::microseconds delay{0};   ///< added to each packet
  std::chrono::microseconds jitter{0};  ///< the delay varies by up to this much; reorders packets
};

/// Impairs an interface from now on, in place of what was asked for before. Errors: EINVAL: a
/// probability that is none, a negative time; kNoInterface, kNotPermitted, kNoNetem.
[[nodiscard]] Result<void> impair(const std::string& interface, const Impairment& impairment);
/// Ends it; fine when there is none. Errors: kNoInterface, kNotPermitted.
[[nodiscard]] Result<void> repair(const std::string& interface);

}  // namespace anyrdma::transport::rxe
