// What a fault does to the world.
#pragma once

#include "sim/fault_plan.h"

namespace anyrdma::sim {

class World;

/// Carries out an action that needs no packet or request at hand; the others are their carriers'.
/// Outside of critical sections. False: there was nothing to change, such as a device that is gone.
bool carry_out(World& world, const FaultAction& action);

}  // namespace anyrdma::sim
