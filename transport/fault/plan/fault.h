// A fault as data: when, what, and which goes with which.
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

/// One of its kinds. Copying, moving and ending one is a call: written into each source that keeps
/// faults, as a variant's is, it was most of what these took to compile.
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

/// The same of what happens.
struct FaultAction : ActionKinds {
  using ActionKinds::ActionKinds;
  FaultAction();
  FaultAction(const FaultAction& other);
  FaultAction(FaultAction&& other) noexcept;
  FaultAction& operator=(const FaultAction& other);
  FaultAction& operator=(FaultAction&& other) noexcept;
  ~FaultAction();
  bool operator==(const FaultAction& other) const;
  /// The word for it in a plan: "lose".
  [[nodiscard]] std::string_view kind() const;
  /// The private data that it brings: a rejection's.
  [[nodiscard]] std::span<const std::uint8_t> private_data() const;
};

/// The object of an action, or the object that a trigger provides; by default the world.
template <class Part>
inline constexpr Victim kVictim = [] {
  if constexpr (requires { Part::kVictim; }) {
    return Part::kVictim;
  } else {
    return Victim::kWorld;
  }
}();

/// Whether the action can follow from the trigger: a packet is lost on a packet, while the world
/// changes whenever.
template <class When, class What>
inline constexpr bool kFits = kVictim<What> == Victim::kWorld || kVictim<What> == kVictim<When>;

struct Fault {
  Trigger trigger;
  FaultAction action;
  bool maybe = false;  ///< a run in which it does not happen is fine
  Lasting lasts{};     ///< of an action that has an end
  bool operator==(const Fault&) const = default;
};

/// One line; see fault_plan.h for the grammar.
[[nodiscard]] std::string to_string(const Fault& fault);

}  // namespace anyrdma::fault
