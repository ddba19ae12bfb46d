// The interface by which a transport with faults (FaultTransport) uses the layers below it: actions
// on them, a timer, and random numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "transport/fault/plan/arming.h"
#include "transport/fault/plan/fault.h"
#include "verbs/random.h"

namespace anyrdma::fault {

/// The result of carrying out an action.
enum class Effect : std::uint8_t {
  kNone,     ///< the action made no difference, for example because the port was down already
  kSome,     ///< the action was carried out and made a difference
  kUnknown,  ///< the layers below do not support the action; the caller must use other means
};

/// Implemented by the driver of a FaultTransport, which it must outlive.
class Ground {
 public:
  virtual ~Ground() = default;
  /// Carries out an action on the whole host before it returns. Called at the end of the critical
  /// section (verbs::Runtime::enter), not from an upcall or a call.
  [[nodiscard]] virtual Effect carry_out(const FaultAction& action) = 0;
  /// Reports that a fault is about to be carried out, or was carried out. `fault` has its counts,
  /// of which only `observed` may still change. Called inside the critical section
  /// (verbs::Runtime::enter).
  virtual void on_fired(const FaultStatus& fault) = 0;
  /// Reports that the counts of the fault at this index of the plan have changed. Called inside the
  /// critical section (verbs::Runtime::enter).
  virtual void on_counted(std::size_t /*index*/, const FaultStatus& /*fault*/) {}
  /// Whether no more faults may happen, because the host has ended, or because this process is a
  /// child made by fork. Called inside the critical section (verbs::Runtime::enter).
  [[nodiscard]] virtual bool is_over() const { return false; }
  /// Requests a call of FaultTransport::conclude() at the end of this critical section
  /// (verbs::Runtime::enter), before another thread can enter it. An implementation that cannot do
  /// so uses wake(). Called inside the critical section.
  virtual void call_conclusion() {}
  /// Reports that FaultTransport::next_deadline() has become earlier, so the driver must set its
  /// timer again. Called inside the critical section (verbs::Runtime::enter).
  virtual void wake() = 0;
  /// Returns random numbers that are derived from the run's seed and from `name`. Each name has its
  /// own sequence.
  [[nodiscard]] virtual std::unique_ptr<verbs::Random> dice(std::string_view name) = 0;
};

}  // namespace anyrdma::fault
