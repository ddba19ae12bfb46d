// Selects the part of a fault plan for one host, and checks which faults a transport supports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "transport/fault/plan/fault_plan.h"

namespace anyrdma::fault {

/// The faults that a transport supports, in addition to those on events, calls and requests, which
/// all support.
struct Abilities {
  std::string_view name;      ///< the transport's name, for error messages
  std::string_view device{};  ///< its only device; empty: unknown before it is opened
  /// Whether the device is our software HCA. Then more faults are possible: reject a request with
  /// any reason or drop it, take the port's link down, and faults on verbs calls, work and packets.
  bool ours = false;
};

/// Returns the names of all hosts in a plan, in alphabetical order.
[[nodiscard]] std::vector<std::string> hosts_of(const FaultPlan& plan);

/// Returns the only host name in a plan, or "here" if it names none. Error: the plan names several
/// hosts.
[[nodiscard]] PlanResult<std::string> only_host(const FaultPlan& plan);

/// Returns the faults of `host`, unchanged; perhaps none. A packet from `host`, or from any host to
/// `host`, belongs to `host`. Error, with the fault's number in the plan (from 1) as line: a fault
/// that the transport does not support, a fault whose trigger is on another host, or packets to
/// peers of several names (a process knows only its own name).
[[nodiscard]] PlanResult<FaultPlan> part_of(const FaultPlan& plan, const std::string& host,
                                            const Abilities& abilities);

/// Whether a fault of the plan has a trigger on packets.
[[nodiscard]] bool watches_packets(const FaultPlan& plan);

}  // namespace anyrdma::fault
