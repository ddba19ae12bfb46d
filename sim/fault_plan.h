// Makes the names of the fault language available to tests in the simulator: sim::FaultPlan,
// sim::OnRequest and so on.
#pragma once

#include "transport/fault/plan/fault_json.h"
#include "transport/fault/plan/fault_plan.h"

namespace anyrdma::sim {

using namespace fault;
using fault::to_string;  // beside those of the simulator

}  // namespace anyrdma::sim
