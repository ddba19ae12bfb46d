// Tests whether a call, a packet or posted work on a host fires the trigger of a fault. The
// functions ignore the trigger's host name; a caller with several hosts compares it.
#pragma once

#include <cstdint>
#include <string_view>

#include "transport/fault/plan/fault.h"
#include "verbs/call_gate.h"
#include "verbs/packet_gate.h"

namespace anyrdma::fault {

/// Whether the fault's trigger is counted before the call, when verbs::CallGate is asked. Triggers
/// of other faults on calls are counted after the call.
[[nodiscard]] bool counts_at_gate(const Fault& fault);

/// Whether the trigger counts this call. `call` and `id` are as in verbs::CallGate and
/// transport::CallObserver.
[[nodiscard]] bool names_call(const OnCall& on, std::uint64_t id, std::string_view call);

/// Adds an action on a packet (lose, corrupt, duplicate, reorder, delay) to `mishap`. False: the
/// action is of another kind, and `mishap` is unchanged.
[[nodiscard]] bool befall(const FaultAction& action, verbs::Mishap& mishap);

/// Whether the trigger counts this posted work. Also false if such work cannot complete with the
/// status of the fault.
[[nodiscard]] bool names_work(const Fault& fault, const verbs::PostedWork& work);

}  // namespace anyrdma::fault
