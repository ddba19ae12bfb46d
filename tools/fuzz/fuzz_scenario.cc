#include "tools/fuzz/fuzz_scenario.h"

#include <string_view>

#include "tools/scenario_file.h"
#include "tools/words.h"
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
  for (const auto& [host, line] : scenario->programs) {
    CM_ASSERT(!host.empty());
    (void)words_of(line);
  }
  return 0;
}

}  // namespace anyrdma::tools::fuzz
