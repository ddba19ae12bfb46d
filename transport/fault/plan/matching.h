// Tests whether an event on a host fires the trigger of a fault. The caller compares the host's
// name if it has several hosts.
#pragma once

#include <cstdint>
#include <string_view>

#include "transport/fault/plan/fault.h"
#include "verbs/call_gate.h"
#include "verbs/packet_gate.h"

namespace anyrdma::fault {

/// Whether the fault's trigger is counted when verbs::CallGate is asked, before the call. Other
/// faults of calls are counted after the call.
[[nodiscard]] bool counts_at_gate(const Fault& fault);

/// `call` and `id` as verbs::CallGate and transport::CallObserver have them.
[[nodiscard]] bool names_call(const OnCall& on, std::uint64_t id, std::string_view call);

/// Adds what the action does to a packet. False: it happens to something else.
[[nodiscard]] bool befall(const FaultAction& action, verbs::Mishap& mishap);

/// False, too: no such work can end as the fault has it.
[[nodiscard]] bool names_work(const Fault& fault, const verbs::PostedWork& work);

}  // namespace anyrdma::fault
