// A fault: a trigger, an action, and which of them can be combined.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "transport/fault/plan/action.h"
#include "transport/fault/plan/api.h"
#include "transport/fault/plan/trigger.h"

namespace anyrdma::fault {

// clang-format off: a line for each section
using TriggerKinds = std::variant<AtTime, BetweenTimes, OnMessage, OnPacket, OnRequest, OnQueued,
                                  OnFetched, OnResolving, OnRouting, OnState, OnCall, OnCompletion>;

using ActionKinds =
    std::variant<LoseMessage, DelayMessage, DuplicateMessage, CorruptMessage, ReorderMessage,
                 AlterMessage, RejectRequest, IgnoreRequest, StaleRequest, PostponeRequest,
                 OverflowBacklog, HoldEvent, FailResolving, FailRouting, CutRail, MendRail,
                 RemoveDevice, ReturnDevice, PortDown, PortUp, RaiseEvent, CrashHost, KillPrograms,
                 RestartHost, PauseHost, ResumeHost, DriftClock, AddAddress, DropAddress, LoseGroup,
                 ChangeAddress, RestoreAddress, ConfirmNeighbour, ForgetNeighbour, CutPath,
                 ClogPath, MendPath, SlowPath, FailCall, CompleteWork, FailQueuePair, OverrunQueue,
                 FailSharedQueue, SlowConsumer>;
// clang-format on

/// A trigger of any kind. Its copy, move and destruction are defined in one source file, because
/// inline variants made each source that stores faults slow to compile.
struct Trigger : TriggerKinds {
  using TriggerKinds::TriggerKinds;
  Trigger();
  Trigger(const Trigger& other);
  Trigger(Trigger&& other) noexcept;
  Trigger& operator=(const Trigger& other);
  Trigger& operator=(Trigger&& other) noexcept;
  ~Trigger();
  bool operator==(const Trigger& other) const;
};

/// An action of any kind. Its copy, move and destruction are defined in one source file.
struct FaultAction : ActionKinds {
  using ActionKinds::ActionKinds;
  FaultAction();
  FaultAction(const FaultAction& other);
  FaultAction(FaultAction&& other) noexcept;
  FaultAction& operator=(const FaultAction& other);
  FaultAction& operator=(FaultAction&& other) noexcept;
  ~FaultAction();
  bool operator==(const FaultAction& other) const;
  /// Returns the action's word in a plan: "lose".
  [[nodiscard]] std::string_view kind() const;
  /// Returns the private data of a rejection; empty for other actions.
  [[nodiscard]] std::span<const std::uint8_t> private_data() const;
};

/// The object that an action affects, or that a trigger provides: a packet, a request, an event ...
/// By default the world.
template <class Part>
inline constexpr Victim kVictim = [] {
  if constexpr (requires { Part::kVictim; }) {
    return Part::kVictim;
  } else {
    return Victim::kWorld;
  }
}();

/// Whether the action can follow the trigger. Losing a packet needs a trigger on a packet; actions
/// on the world can follow every trigger.
template <class When, class What>
inline constexpr bool kFits = kVictim<What> == Victim::kWorld || kVictim<What> == kVictim<When>;

struct Fault {
  Trigger trigger;
  FaultAction action;
  bool maybe = false;  ///< if the fault does not happen, the run still passes
  Lasting lasts{};     ///< how long the effect lasts
  bool operator==(const Fault&) const = default;
};

/// Returns the fault as one line of a plan; see fault_plan.h for the grammar.
[[nodiscard]] std::string to_string(const Fault& fault);

}  // namespace anyrdma::fault
