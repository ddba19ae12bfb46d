// Lines of a scenario file, and options, that describe the processors, the memory and the kernel of
// hosts.
#pragma once

#include <string>
#include <string_view>

#include "sim/host_description.h"
#include "tools/program_scenario.h"

namespace anyrdma::tools {

/// Takes "[HOST] N" of `processors`, "[HOST] SIZE" of `ram`, "[HOST] RELEASE" of `kernel`. `what`:
/// one of these three words. `where`: "file:3", or an option, which replaces what the file says.
/// Returns why the line is refused; empty: it is not.
[[nodiscard]] std::string take_host_line(const std::string& what, std::string_view rest,
                                         const std::string& where, ProgramScenario& scenario);

/// Returns what the scenario says of a host. A line for that host precedes those for all.
[[nodiscard]] sim::HostDescription description_of(const ProgramScenario& scenario,
                                                  std::string_view host);

/// Returns a sentence about the first line that names an unknown host, or leaves too little memory
/// for the huge pages; empty: there is none.
[[nodiscard]] std::string problem_with_host_lines(const ProgramScenario& scenario);

}  // namespace anyrdma::tools
