// The clock of a simulated host, which may run faster or slower than the world's.
#pragma once

#include <cstdint>

#include "verbs/time.h"

namespace anyrdma::sim {

/// Converts between the time of the world and the time that a host's clock shows.
class HostClock {
 public:
  /// Returns the time that the clock shows. `world`: the time of the world now.
  [[nodiscard]] verbs::Instant at(verbs::Instant world) const {
    if (drift_ppm_ == 0 && clock_ == set_at_) return world;
    const verbs::Duration passed = world - set_at_;
    return clock_ + passed + passed / kMillion * drift_ppm_ +
           passed % kMillion * drift_ppm_ / kMillion;
  }
  /// Returns the time of the world at which the clock shows `local`. Never early, or a timer would
  /// find that it is not due.
  [[nodiscard]] verbs::Instant world_time(verbs::Instant local) const {
    if (drift_ppm_ == 0) return local + (set_at_ - clock_);
    const verbs::Duration wait = local - clock_;
    const std::int64_t rate = kMillion + drift_ppm_;
    return set_at_ + wait / rate * kMillion + wait % rate * kMillion / rate + verbs::Duration(1);
  }
  /// Makes the clock run faster by `ppm` parts per million from now on; slower if negative.
  void set_drift(std::int32_t ppm, verbs::Instant world) {
    clock_ = at(world);
    set_at_ = world;
    drift_ppm_ = ppm;
  }
  [[nodiscard]] std::int32_t drift_ppm() const { return drift_ppm_; }

 private:
  static constexpr std::int64_t kMillion = 1'000'000;

  std::int32_t drift_ppm_ = 0;
  verbs::Instant clock_{};   ///< what it showed ...
  verbs::Instant set_at_{};  ///< ... at this time of the world
};

}  // namespace anyrdma::sim
