#include "sim/fuzz/fuzz_trial.h"

#include <string_view>

#include "sim/explore/trial.h"
#include "verbs/assert.h"

namespace anyrdma::sim::fuzz {

int fuzz_trial(const std::uint8_t* data, std::size_t size) {
  const auto text =
      size == 0 ? std::string_view() : std::string_view(reinterpret_cast<const char*>(data), size);
  const auto trial = Trial::parse(text);
  if (!trial) {
    CM_ASSERT(trial.error().line >= 1);
    CM_ASSERT(!trial.error().reason.empty());
    return 0;
  }
  for (const char* separator : {"; ", "\n"}) {
    const auto again = Trial::parse(trial->to_string(separator));
    CM_ASSERT(again.has_value());
    CM_ASSERT(*again == *trial);
  }
  return 0;
}

}  // namespace anyrdma::sim::fuzz
