// A fault plan in a file, for one program over one transport: read, checked, and reduced to what is
// for that program before anything starts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "transport/fault/part.h"
#include "transport/fault/plan/fault_plan.h"
#include "verbs/why_not.h"

namespace anyrdma::transport {

/// What a plan has for one host.
struct HostPlan {
  fault::FaultPlan plan{};           ///< empty: all of it is for others
  std::string host{};                ///< whose
  std::vector<std::string> hosts{};  ///< whom the whole plan is about
};

/// The part of the plan in `text` that is for `host`, or, as that is empty, for the only host there
/// is in it. JSON begins with '{'; everything else is the text of fault_plan.h. `file` is for the
/// sentence, which names the line.
[[nodiscard]] verbs::OrWhyNot<HostPlan> parse_fault_file(std::string_view file,
                                                         std::string_view text,
                                                         std::string_view host,
                                                         const fault::Abilities& abilities);
/// The same, of a file.
[[nodiscard]] verbs::OrWhyNot<HostPlan> read_fault_file(const std::string& path,
                                                        std::string_view host,
                                                        const fault::Abilities& abilities);

}  // namespace anyrdma::transport
