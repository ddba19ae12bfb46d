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
// The words in the JSON text are those of a plan's text (fault_plan.h). If a word is a number, it
// may be a JSON number.
#pragma once

#include <string>
#include <string_view>

#include "transport/fault/plan/fault_plan.h"

namespace anyrdma::fault {

/// Writes a plan as JSON, each fault on its own line, so that two versions can be compared.
/// parse_json() reads the result.
[[nodiscard]] std::string to_json(const FaultPlan& plan);
/// Parses a plan from JSON. Errors: the text is not JSON; a key is unknown, missing or repeated; a
/// value has the wrong type; and all errors of FaultPlan::parse. The error's line is that of the
/// key or value.
[[nodiscard]] PlanResult<FaultPlan> parse_json(std::string_view text);
/// Parses a plan as JSON if the text begins with `{`, else as a plan's text.
[[nodiscard]] PlanResult<FaultPlan> parse_either(std::string_view text);

}  // namespace anyrdma::fault
