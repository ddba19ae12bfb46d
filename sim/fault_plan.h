// A list of faults and its text.
//
//   plan    = { line "\n" }            empty lines and those starting with '#' mean nothing
//   line    = trigger ": " action
//   trigger = "at " TIME                                            at 1.5s
//           | "on " HOST "->" HOST " " MESSAGE " " OCCURRENCE       on client->server REQ 1
//           | "on " HOST " request " OCCURRENCE                     on server request 2
//   action  = "reject " REASON [" " HEX]                            reject 28 6e6f
//           | "lose"                                                lose
//           | "remove " HOST " " DEVICE                             remove server anyrdma0
//           | "fail-over " HOST " " INTERFACE                       fail-over server eth0
//
// TIME is a decimal number with ns, us, ms or s; HOST in "on" may be * for any; OCCURRENCE counts
// from 1 or is "all".
#pragma once

#include <boost/system/result.hpp>
#include <cstddef>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "sim/fault.h"

namespace anyrdma::sim {

/// Why a plan's text is refused.
struct PlanError {
  std::size_t line = 0;  ///< from 1
  std::string reason;

  /// "line 3: no such message 'REX'".
  [[nodiscard]] std::string to_string() const;
};

/// What PlanResult::value() throws when there is none.
[[noreturn]] void throw_exception_from_error(const PlanError& error,
                                             const boost::source_location& location);

template <class T>
using PlanResult = boost::system::result<T, PlanError>;

struct FaultPlan {
  std::vector<Fault> faults;
  bool operator==(const FaultPlan&) const = default;

  [[nodiscard]] static PlanResult<FaultPlan> parse(std::string_view text);
  /// One line per fault, each with its newline; parse gives the plan back.
  [[nodiscard]] std::string to_string() const;
};

/// What is wrong with a fault whatever the world it happens in; empty: nothing.
[[nodiscard]] std::string problem_with(const Fault& fault);

}  // namespace anyrdma::sim
