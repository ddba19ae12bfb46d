// What a transport with faults stands on: those parts of the world below it that it cannot break by
// itself, a timer, and chance.
#pragma once

#include <cstddef>
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
  /// Does what happens to the host as a whole, before it returns. Inside the critical section, at
  /// its end: not from an upcall or a call.
  [[nodiscard]] virtual Effect carry_out(const FaultAction& action) = 0;
  /// A fault is about to be carried out, or has been: its account is up to date but for whether
  /// that made a difference. Inside the critical section.
  virtual void on_fired(const FaultStatus& fault) = 0;
  /// The account of the n-th fault of the plan has changed. Inside the critical section.
  virtual void on_counted(std::size_t /*index*/, const FaultStatus& /*fault*/) {}
  /// The host has left, or is another one by now (a child made by fork): nothing happens to it any
  /// more, and nothing counts. Inside the critical section.
  [[nodiscard]] virtual bool is_over() const { return false; }
  /// FaultTransport::conclude() wants to be called at the end of this critical section, before
  /// anybody else can enter it. Whoever has no such place leaves it to wake(). Inside the critical
  /// section.
  virtual void call_conclusion() {}
  /// FaultTransport::next_deadline() has become earlier. Inside the critical section.
  virtual void wake() = 0;
  /// A stream of its own for each name, from the run's seed.
  [[nodiscard]] virtual std::unique_ptr<verbs::Random> dice(std::string_view name) = 0;
};

}  // namespace anyrdma::fault
