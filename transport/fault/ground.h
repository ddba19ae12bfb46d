// What a transport with faults stands on: those parts of the world below it that it cannot break by
// itself, a timer, and chance.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "transport/fault/plan/arming.h"
#include "transport/fault/plan/fault.h"
#include "verbs/random.h"

namespace anyrdma::fault {

/// What became of an action.
enum class Effect : std::uint8_t {
  kNone,     ///< carried out, but it made no difference: the port was down already
  kSome,     ///< carried out
  kUnknown,  ///< not offered: whoever asked does what it can by itself
};

/// Implemented by whoever drives a FaultTransport. Outlives it.
class Ground {
 public:
  virtual ~Ground() = default;
  /// Does what happens to the host as a whole. Outside the critical section.
  [[nodiscard]] virtual Effect carry_out(const FaultAction& action) = 0;
  /// A fault is about to be carried out, or has been: its account is up to date but for whether
  /// that made a difference. Inside the critical section.
  virtual void on_fired(const FaultStatus& fault) = 0;
  /// FaultTransport::next_deadline() has become earlier. Inside the critical section.
  virtual void wake() = 0;
  /// A stream of its own for each name, from the run's seed.
  [[nodiscard]] virtual std::unique_ptr<verbs::Random> dice(std::string_view name) = 0;
};

}  // namespace anyrdma::fault
