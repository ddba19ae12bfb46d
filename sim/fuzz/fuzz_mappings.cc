#include "sim/fuzz/fuzz_mappings.h"

#include <string_view>

#include "sim/debug/core/mappings.h"
#include "verbs/assert.h"

namespace anyrdma::sim::fuzz {

int fuzz_mappings(const std::uint8_t* data, std::size_t size) {
  const auto text =
      size == 0 ? std::string_view() : std::string_view(reinterpret_cast<const char*>(data), size);
  for (const debug::Mapping& each : debug::parse_mappings(text)) {
    CM_ASSERT(each.begin < each.end);
    CM_ASSERT(each.readable || debug::kept_of(each) == debug::Kept::kNothing);
  }
  return 0;
}

}  // namespace anyrdma::sim::fuzz
