// Tests whether a call, a packet or posted work on a host is an occurrence of a fault's trigger.
// The functions ignore the trigger's host name. A caller with several hosts compares that itself.
#pragma once

#include <cstdint>
#include <string_view>

#include "transport/fault/plan/fault.h"
#include "verbs/call_gate.h"
#include "verbs/packet_gate.h"

namespace anyrdma::fault {

/// Whether the fault's trigger is counted before the call, when the call asks verbs::CallGate.
/// Triggers of other faults on calls are counted after the call.
[[nodiscard]] bool counts_at_gate(const Fault& fault);

/// Whether the call is an occurrence of the trigger. `call` and `id` are as in verbs::CallGate and
/// transport::CallObserver.
[[nodiscard]] bool names_call(const OnCall& on, std::uint64_t id, std::string_view call);

/// Adds the effect of an action on a packet (lose, corrupt, duplicate, reorder or delay) to
/// `mishap`. False: the action is of another kind, and `mishap` is unchanged.
[[nodiscard]] bool befall(const FaultAction& action, verbs::Mishap& mishap);

/// Whether the posted work is an occurrence of the fault's trigger. Also false if such work cannot
/// complete with the status of the fault.
[[nodiscard]] bool names_work(const Fault& fault, const verbs::PostedWork& work);

}  // namespace anyrdma::fault
