// The actions of faults on the world.
#pragma once

#include <vector>

#include "sim/fault_plan.h"
#include "verbs/time.h"

namespace anyrdma::sim {

class Host;
class World;

/// Executes a fault action that needs no packet or request; other actions are executed where
/// packets and requests are processed. Call it outside of critical sections
/// (verbs::Runtime::enter). Returns false if there was no effect, for example for a removed device.
bool carry_out(World& world, const FaultAction& action);

/// The state before a fault action, such as the latency of a link. carry_out_end() restores it when
/// the fault ends.
struct Before {
  /// The latency of one direction between two hosts.
  struct Latency {
    Host* from;
    Host* to;
    verbs::Duration latency;
  };
  std::vector<Latency> latencies{};
};
/// Call it before carry_out.
[[nodiscard]] Before before_action(World& world, const FaultAction& action);
/// Ends the effect of a fault action, unless something else has ended it meanwhile. Call it outside
/// of critical sections (verbs::Runtime::enter).
void carry_out_end(World& world, const FaultAction& action, const Before& before);

}  // namespace anyrdma::sim
