// A fault of a plan: a trigger and an action. Also defines which triggers and actions can be
// combined.
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
                 SlowRail, RemoveDevice, ReturnDevice, PortDown, PortUp, FlapPort, RaiseEvent,
                 CrashHost, KillPrograms, RestartHost, PauseHost, ResumeHost, DriftClock,
                 AddAddress, DropAddress, LoseGroup, ChangeAddress, RestoreAddress,
                 ConfirmNeighbour, ForgetNeighbour, CutPath, ClogPath, MendPath, SlowPath, FailCall,
                 CompleteWork, FailQueuePair, OverrunQueue, FailSharedQueue, SlowConsumer>;
// clang-format on

/// A trigger of any kind. Copy, move and destruction are defined in one source file, because inline
/// variants made each source file that stores faults slow to compile.
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

/// An action of any kind. Copy, move and destruction are defined in one source file, as for
/// Trigger.
struct FaultAction : ActionKinds {
  using ActionKinds::ActionKinds;
  FaultAction();
  FaultAction(const FaultAction& other);
  FaultAction(FaultAction&& other) noexcept;
  FaultAction& operator=(const FaultAction& other);
  FaultAction& operator=(FaultAction&& other) noexcept;
  ~FaultAction();
  bool operator==(const FaultAction& other) const;
  /// Returns the word for the action in a plan, such as "lose".
  [[nodiscard]] std::string_view kind() const;
  /// Returns the private data of a rejection; empty for other actions.
  [[nodiscard]] std::span<const std::uint8_t> private_data() const;
};

/// The object that an action affects, or that a trigger provides: a packet, a request or an event,
/// for example. Without kVictim it is a host or the network.
template <class Part>
inline constexpr Victim kVictim = [] {
  if constexpr (requires { Part::kVictim; }) {
    return Part::kVictim;
  } else {
    return Victim::kWorld;
  }
}();

/// Whether an action can follow a trigger. The action "lose" needs a trigger on a packet, for
/// example. Actions on a host or the network can follow every trigger.
template <class When, class What>
inline constexpr bool kFits = kVictim<What> == Victim::kWorld || kVictim<What> == kVictim<When>;

struct Fault {
  Trigger trigger;
  FaultAction action;
  bool maybe = false;  ///< true: the run also passes if the fault does not happen
  Lasting lasts{};     ///< how long the effect lasts
  bool operator==(const Fault&) const = default;
};

/// Returns the fault as one line of a plan. fault_plan.h has the grammar.
[[nodiscard]] std::string to_string(const Fault& fault);
/// Returns the action as a line of a plan has it, without a trigger.
[[nodiscard]] std::string to_string(const FaultAction& action);

}  // namespace anyrdma::fault
