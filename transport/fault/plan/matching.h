// Whether what happens on a host is what a fault watches for. The host's name is looked at by who
// knows several of them.
#pragma once

#include <cstdint>
#include <string_view>

#include "transport/fault/plan/fault.h"
#include "verbs/call_gate.h"
#include "verbs/packet_gate.h"

namespace anyrdma::fault {

/// Counted when verbs::CallGate is asked; other faults on calls when those have been made.
[[nodiscard]] bool counts_at_gate(const Fault& fault);

/// `call` and `id` as verbs::CallGate and transport::CallObserver have them.
[[nodiscard]] bool names_call(const OnCall& on, std::uint64_t id, std::string_view call);

/// Adds what the action does to a packet. False: it happens to something else.
[[nodiscard]] bool befall(const FaultAction& action, verbs::Mishap& mishap);

/// False, too: no such work can end as the fault has it.
[[nodiscard]] bool names_work(const Fault& fault, const verbs::PostedWork& work);

}  // namespace anyrdma::fault
