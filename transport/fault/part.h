// Selects the faults of a plan that concern one host, and checks which of them a transport
// supports.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "transport/fault/plan/fault_plan.h"

namespace anyrdma::fault {

/// Describes which faults a transport supports. Every transport supports faults on events, calls
/// and requests.
struct Abilities {
  std::string_view name;  ///< the transport's name, for error messages

  /// The number of the transport's devices, whose names are anyrdma0, anyrdma1 and so on. 0: their
  /// names are unknown before the transport is opened.
  std::size_t devices = 0;
  /// Whether the device is anyrdma's software HCA. Then more faults are possible: to reject a
  /// request with any reason or drop it, to take the port's link down, and faults on verbs calls,
  /// work and packets.
  bool ours = false;
};

/// Returns the number of the device with a name such as anyrdma1, from 0. Nothing: no device of a
/// transport in real time has such a name.
[[nodiscard]] std::optional<std::size_t> device_number(std::string_view name);

/// Returns the names of all hosts in a plan, in alphabetical order.
[[nodiscard]] std::vector<std::string> hosts_of(const FaultPlan& plan);

/// Returns the only host name in a plan, or "here" if the plan names no host. Error: the plan names
/// several hosts.
[[nodiscard]] PlanResult<std::string> only_host(const FaultPlan& plan);

/// Returns the faults of the plan that concern `host`, unchanged. A fault on a packet from `host`,
/// or from any host to `host`, concerns `host`. The error names the number of a fault in the plan,
/// from 1, as its line. Errors: a fault that the transport does not support; a trigger on another
/// host; packets to several peer names, because a process knows only its own name.
[[nodiscard]] PlanResult<FaultPlan> part_of(const FaultPlan& plan, const std::string& host,
                                            const Abilities& abilities);

/// Whether a fault of the plan is triggered by packets.
[[nodiscard]] bool watches_packets(const FaultPlan& plan);

}  // namespace anyrdma::fault
