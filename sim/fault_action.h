// What a fault does to the world.
#pragma once

#include <vector>

#include "sim/fault_plan.h"
#include "verbs/time.h"

namespace anyrdma::sim {

class Host;
class World;

/// Carries out an action that needs no packet or request at hand; the others are their carriers'.
/// Outside of critical sections. False: there was nothing to change, such as a device that is gone.
bool carry_out(World& world, const FaultAction& action);

/// How something was before it was changed by an action whose end restores it.
struct Before {
  struct Latency {
    Host* from;
    Host* to;
    verbs::Duration latency;
  };
  std::vector<Latency> latencies{};
};
/// Before carry_out.
[[nodiscard]] Before before_action(World& world, const FaultAction& action);
/// Ends what the action has changed, unless something else has meanwhile. As carry_out.
void carry_out_end(World& world, const FaultAction& action, const Before& before);

}  // namespace anyrdma::sim
