#include "verbs/soft/fuzz/fuzz_device_profile.h"

#include <algorithm>
#include <string_view>

#include "verbs/assert.h"
#include "verbs/soft/device_profile.h"

namespace anyrdma::verbs::soft::fuzz {

int fuzz_device_profile(const std::uint8_t* data, std::size_t size) {
  const std::string_view text =
      size == 0 ? std::string_view() : std::string_view(reinterpret_cast<const char*>(data), size);
  const auto device = parse_profile(text);
  if (!device) {
    const auto newlines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    CM_ASSERT(device.error().line >= 1);
    CM_ASSERT(device.error().line <= newlines + 1);
    CM_ASSERT(!device.error().reason.empty());
    return 0;
  }
  const auto again = parse_profile(to_string(*device));
  CM_ASSERT(again.has_value());
  CM_ASSERT(*again == *device);
  return 0;
}

}  // namespace anyrdma::verbs::soft::fuzz
