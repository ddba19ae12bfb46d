// The interface of a transport with faults to the layers below: actions on them, a timer, and
// random numbers.
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
  kNone,     ///< carried out without a difference: the port was down already, for example
  kSome,     ///< carried out
  kUnknown,  ///< not supported here: the caller must use other means
};

/// Implemented by the driver of a FaultTransport, which it must outlive.
class Ground {
 public:
  virtual ~Ground() = default;
  /// Carries out an action on the whole host before it returns. Called at the end of the critical
  /// section, not from an upcall or a call.
  [[nodiscard]] virtual Effect carry_out(const FaultAction& action) = 0;
  /// A fault is about to be carried out, or was carried out. `fault` has its counts; only
  /// `observed` may still change. Inside the critical section.
  virtual void on_fired(const FaultStatus& fault) = 0;
  /// The counts of the n-th fault of the plan have changed. Inside the critical section.
  virtual void on_counted(std::size_t /*index*/, const FaultStatus& /*fault*/) {}
  /// Whether no fault may happen any more, because the host has ended, or because this process is a
  /// child made by fork. Inside the critical section.
  [[nodiscard]] virtual bool is_over() const { return false; }
  /// Asks for a call of FaultTransport::conclude() at the end of this critical section, before
  /// another thread can enter it. An implementation without such a hook uses wake(). Called inside
  /// the critical section.
  virtual void call_conclusion() {}
  /// FaultTransport::next_deadline() has become earlier: set the timer again. Inside the critical
  /// section.
  virtual void wake() = 0;
  /// Returns a random number stream of this name, derived from the run's seed. Each name has its
  /// own stream.
  [[nodiscard]] virtual std::unique_ptr<verbs::Random> dice(std::string_view name) = 0;
};

}  // namespace anyrdma::fault
