// The standard menu: all faults that make sense for a scenario of programs, for users who do not
// want to list faults.
#pragma once

#include <string>
#include <string_view>

#include "tools/program_scenario.h"

namespace anyrdma::tools {

/// Whether KIND is valid in a line `menu standard except KIND`. A second function lists the kinds
/// for error messages.
[[nodiscard]] bool is_standard_kind(std::string_view kind);
[[nodiscard]] std::string standard_kinds();

/// A plan as text, a line for each fault: losses, delays and damage between hosts; messages of the
/// CM lost, requests refused; completions in error; calls that fail; hosts that crash and restart,
/// stand still, are cut off; programs that are killed, or stand still; devices, ports, consumers.
/// Windows are made for runs that take `length` of virtual time without faults, durations and
/// delays for those in which most happens within `busy`. Empty where the scenario has no line
/// `menu standard`.
[[nodiscard]] std::string standard_menu(const ProgramScenario& scenario, verbs::Duration length,
                                        verbs::Duration busy);

}  // namespace anyrdma::tools
