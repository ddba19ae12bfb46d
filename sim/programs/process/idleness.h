// How idle a thread is: how often it has read the clock, or polled, without doing anything else.
#pragma once

#include <algorithm>
#include <optional>

#include "verbs/time.h"

namespace anyrdma::sim::programs {

/// Decides how much virtual time polls and clock readings of one thread take. The time grows with
/// their number, since a thread that waits in a loop must not stop virtual time.
class Idleness {
 public:
  /// `call_cost`: the virtual time of a system call.
  explicit Idleness(verbs::Duration call_cost) : call_cost_(call_cost) {}

  /// Counts a clock reading by system call or instruction, and returns the time that it takes.
  [[nodiscard]] verbs::Duration look() { return call_cost_ * growing(looks_++); }
  /// Returns the time that a clock reading takes without a system call (SharedClock).
  [[nodiscard]] verbs::Duration cost_of_reading() const { return call_cost_ * growing(looks_); }
  /// Counts clock readings without a system call.
  void note_readings(unsigned readings) { looks_ += readings; }
  /// The number of clock readings since the thread did anything else.
  [[nodiscard]] unsigned looks() const { return looks_; }
  void end_looks() { looks_ = 0; }

  /// Counts a poll that found nothing, and returns the time that it takes. nullopt: the thread goes
  /// on at once, as after the first polls, since a thread that reads all data polls once more.
  [[nodiscard]] std::optional<verbs::Duration> look_in_vain() {
    constexpr unsigned kForNothing = 4;
    if (++vain_looks_ <= kForNothing) return std::nullopt;
    return call_cost_ * growing(vain_looks_ - kForNothing);
  }
  /// The number of polls that found nothing since one found something.
  [[nodiscard]] unsigned vain_looks() const { return vain_looks_; }
  /// A poll has found something, or the thread has waited.
  void note_found() { vain_looks_ = 0; }

 private:
  [[nodiscard]] static unsigned growing(unsigned looks) {
    constexpr unsigned kLooksPerStep = 16;
    constexpr unsigned kStepsMax = 8;
    return 1u << std::min(looks / kLooksPerStep, kStepsMax);
  }

  verbs::Duration call_cost_;
  unsigned looks_ = 0;
  unsigned vain_looks_ = 0;
};

}  // namespace anyrdma::sim::programs
