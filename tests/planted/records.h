// The conformance suite's scenarios as oracles.
#pragma once

namespace anyrdma::planted {

/// Registers a test "Records.group/name" for each that is performed in the simulator.
void register_records();

}  // namespace anyrdma::planted
