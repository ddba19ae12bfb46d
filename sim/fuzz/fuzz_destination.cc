#include "sim/fuzz/fuzz_destination.h"

#include <string>
#include <string_view>
#include <variant>

#include "sim/debug/cluster/destination.h"
#include "verbs/assert.h"

namespace anyrdma::sim::fuzz {

int fuzz_destination(const std::uint8_t* data, std::size_t size) {
  const auto text =
      size == 0 ? std::string_view() : std::string_view(reinterpret_cast<const char*>(data), size);
  const auto parsed = debug::parse_destination(text);
  if (!parsed) {
    CM_ASSERT(parsed.error().sentence.starts_with("goto: "));
    return 0;
  }
  const auto* const moment = std::get_if<debug::AtMoment>(&*parsed);
  CM_ASSERT(moment == nullptr || moment->time >= verbs::Duration::zero());
  const auto* const record = std::get_if<debug::AtRecord>(&*parsed);
  CM_ASSERT(record == nullptr ||
            debug::parse_destination("record " + std::to_string(record->number)).value() ==
                *parsed);
  return 0;
}

}  // namespace anyrdma::sim::fuzz
