// Decides when the supervisor retries a system call that blocks in the kernel (blocked_call.h).
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "verbs/time.h"

namespace anyrdma::sim::programs {

/// Retries blocked calls: soon after programs did something that may unblock the call, and at
/// intervals that grow with the time it has been blocked.
class CallRetries {
 public:
  explicit CallRetries(verbs::Instant since) : since_(since) {}

  [[nodiscard]] verbs::Instant next(verbs::Instant now) const {
    constexpr verbs::Duration kFirst = std::chrono::microseconds(100);
    constexpr int kShareOfWait = 8;
    return now + std::max(kFirst, (now - since_) / kShareOfWait);
  }
  /// Call when a program has done something. Returns true if the blocked call must be retried now.
  /// After failed retries more and more calls return false, because each retry takes milliseconds
  /// of real time.
  [[nodiscard]] bool on_deed() {
    constexpr unsigned kDoublingsMax = 10;
    if (passed_over_ > 0) {
      --passed_over_;
      return false;
    }
    passed_over_ = (std::uint64_t{1} << std::min(in_vain_++, kDoublingsMax)) - 1;
    return true;
  }

 private:
  verbs::Instant since_;
  unsigned in_vain_ = 0;
  std::uint64_t passed_over_ = 0;
};

}  // namespace anyrdma::sim::programs
