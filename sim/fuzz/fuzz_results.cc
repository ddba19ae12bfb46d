#include "sim/fuzz/fuzz_results.h"

#include <string_view>

#include "sim/explore/results.h"
#include "verbs/assert.h"

namespace anyrdma::sim::fuzz {

int fuzz_results(const std::uint8_t* data, std::size_t size) {
  const auto text =
      size == 0 ? std::string_view() : std::string_view(reinterpret_cast<const char*>(data), size);
  const auto results = Results::parse(text);
  if (!results) {
    CM_ASSERT(results.error().sentence.starts_with("line "));
    return 0;
  }
  const std::string written = results->to_text();
  const auto again = Results::parse(written);
  CM_ASSERT(again.has_value());
  CM_ASSERT(again->to_text() == written);
  const auto sum = merge({{"it", *results}}, true);
  CM_ASSERT(sum.has_value());
  CM_ASSERT(sum->found.runs == results->found.runs);
  CM_ASSERT(sum->found.to_string() == results->found.to_string());
  CM_ASSERT(merge({{"it", *results}, {"again", *results}}, true).has_error());
  return 0;
}

}  // namespace anyrdma::sim::fuzz
