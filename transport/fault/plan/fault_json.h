// A fault plan as JSON, for programs that write plans:
//
//   {
//     "faults": [
//       {"when": {"on": "request", "host": "server", "occurrence": 1},
//        "then": {"do": "reject", "reason": 28, "data": "6e6f"}},
//       {"when": {"on": "time", "time": "1500ms"},
//        "then": {"do": "remove", "host": "server", "device": "anyrdma0"}, "maybe": true},
//       {"when": {"on": "between", "from": "100ms", "to": "2s"},
//        "then": {"do": "crash", "host": "server"}, "for": "300ms"}
//     ]
//   }
//
// The words are those of the text (fault_plan.h); a word that is a number may be one in JSON.
#pragma once

#include <string>
#include <string_view>

#include "transport/fault/plan/fault_plan.h"

namespace anyrdma::fault {

/// One fault a line, so that versions of a plan can be compared; parse_json gives the plan back.
[[nodiscard]] std::string to_json(const FaultPlan& plan);
/// Strict: refuses what is not JSON, unknown, missing and repeated keys, values of another type,
/// and all that FaultPlan::parse refuses. The error's line is that of the offending key or value.
[[nodiscard]] PlanResult<FaultPlan> parse_json(std::string_view text);
/// As parse_json if it begins with `{`, else as FaultPlan::parse.
[[nodiscard]] PlanResult<FaultPlan> parse_either(std::string_view text);

}  // namespace anyrdma::fault
