// The actions of faults on the world.
#pragma once

#include <vector>

#include "sim/fault_plan.h"
#include "verbs/time.h"

namespace anyrdma::sim {

class Host;
class World;

/// Carries out an action that needs no packet or request; others are carried out where these are
/// processed. Call it outside of critical sections. False: no effect, as for a removed device.
bool carry_out(World& world, const FaultAction& action);

/// The state before an action, which the action's end restores.
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
/// Undoes the action, unless something else has done so meanwhile. As carry_out.
void carry_out_end(World& world, const FaultAction& action, const Before& before);

}  // namespace anyrdma::sim
