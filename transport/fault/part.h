// The part of a plan for one host, and the faults that a transport supports.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "transport/fault/plan/fault_plan.h"

namespace anyrdma::fault {

/// The faults that a transport supports, besides those of events, calls and requests.
struct Abilities {
  std::string_view name;      ///< the transport's name, for error messages
  std::string_view device{};  ///< its only device; empty: unknown before it is opened
  /// The device is software of ours: a request can be rejected with any reason or forgotten, a port
  /// loses its link, verbs calls, work and packets are seen.
  bool ours = false;
};

/// Whom a plan is about, in the order of the alphabet.
[[nodiscard]] std::vector<std::string> hosts_of(const FaultPlan& plan);

/// The name that a plan must have for this host: the only one in it, or, as it names none, "here".
/// Refused: there are several.
[[nodiscard]] PlanResult<std::string> only_host(const FaultPlan& plan);

/// The faults of `host`, each without a change; those of other hosts are theirs, and it may well be
/// that all are. Refused, with the number of the fault in the plan, from 1, as line: what such a
/// transport cannot do, a fault whose cause is on another host, packets to peers of several names,
/// as a process knows no name but its own. A packet from `host` is its fault; one from anybody to
/// `host`, too.
[[nodiscard]] PlanResult<FaultPlan> part_of(const FaultPlan& plan, const std::string& host,
                                            const Abilities& abilities);

/// Whether something in it wants to be told of packets.
[[nodiscard]] bool watches_packets(const FaultPlan& plan);

}  // namespace anyrdma::fault
