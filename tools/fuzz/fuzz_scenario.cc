#include "tools/fuzz/fuzz_scenario.h"

#include <string>
#include <string_view>

#include "sim/machines/host_interfaces.h"
#include "tools/scenario_file.h"
#include "tools/standard_menu.h"
#include "verbs/assert.h"

namespace anyrdma::tools::fuzz {

int fuzz_scenario(const std::uint8_t* data, std::size_t size) {
  const auto text =
      size == 0 ? std::string_view() : std::string_view(reinterpret_cast<const char*>(data), size);
  const auto scenario = parse_scenario("file", text);
  if (!scenario) {
    CM_ASSERT(scenario.error().sentence.starts_with("file:"));
    CM_ASSERT(scenario.error().sentence.ends_with('.'));
    return 0;
  }
  CM_ASSERT(!scenario->programs.empty());
  CM_ASSERT(scenario->limit > verbs::Duration::zero());
  CM_ASSERT(scenario->patience > verbs::Duration::zero());
  for (const Placed& program : scenario->programs) {
    CM_ASSERT(!program.host.empty());
    CM_ASSERT(program.where.starts_with("file:"));
  }
  for (const PlacedHost& host : scenario->hosts) {
    const auto interfaces = sim::parse_interfaces(host.addresses);
    if (interfaces) {
      CM_ASSERT(!interfaces->empty() && interfaces->size() <= sim::kInterfacesMax);
    } else {
      CM_ASSERT(interfaces.error().sentence.ends_with('.'));
    }
  }
  const std::string problem = problem_with(*scenario);
  CM_ASSERT(problem.empty() || problem.starts_with("file:"));
  const verbs::Duration length = scenario->patience;
  const auto menu = sim::FaultPlan::parse(standard_menu(*scenario, length, length));
  CM_ASSERT(menu.has_value());
  CM_ASSERT(menu->faults.empty() || scenario->standard.has_value());
  return 0;
}

}  // namespace anyrdma::tools::fuzz
