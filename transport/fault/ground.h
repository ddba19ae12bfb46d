// The interface below a transport with faults: actions on the layers below, a timer, and random
// numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "transport/fault/plan/arming.h"
#include "transport/fault/plan/fault.h"
#include "verbs/random.h"

namespace anyrdma::fault {

/// The result of an action.
enum class Effect : std::uint8_t {
  kNone,     ///< carried out, but it made no difference: the port was down already
  kSome,     ///< carried out
  kUnknown,  ///< not supported: the caller uses its own means
};

/// Implemented by the driver of a FaultTransport. Must outlive it.
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
  /// Asks for a call of FaultTransport::conclude() at the end of this critical section, before
  /// another thread can enter it. An implementation without such a hook uses wake(). Called inside
  /// the critical section.
  virtual void call_conclusion() {}
  /// FaultTransport::next_deadline() has become earlier. Inside the critical section.
  virtual void wake() = 0;
  /// A stream of its own for each name, from the run's seed.
  [[nodiscard]] virtual std::unique_ptr<verbs::Random> dice(std::string_view name) = 0;
};

}  // namespace anyrdma::fault
