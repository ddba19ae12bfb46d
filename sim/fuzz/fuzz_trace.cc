#include "sim/fuzz/fuzz_trace.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "sim/trace/trace_reader.h"
#include "verbs/assert.h"

namespace anyrdma::sim::fuzz {

int fuzz_trace(const std::uint8_t* data, std::size_t size) {
  const auto text =
      size == 0 ? std::string_view() : std::string_view(reinterpret_cast<const char*>(data), size);
  TraceError error;
  const auto lines = parse_trace(text, error);
  if (!lines) {
    const auto newlines = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
    CM_ASSERT(error.line >= 1);
    CM_ASSERT(error.line <= newlines + 1);
    CM_ASSERT(!error.reason.empty());
    return 0;
  }
  std::string again;
  for (const TraceLine& line : *lines) again += line.to_string() + '\n';
  CM_ASSERT(again == text);
  CM_ASSERT(!first_difference(*lines, *lines));
  return 0;
}

}  // namespace anyrdma::sim::fuzz
