// A story as JSON lines, for the page and for other programs: docs/recording.md.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "recording/view/story.h"

namespace anyrdma::recording {

/// A JSON string with its quotes; bytes that are no UTF-8 become U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);
/// The header, the lanes, then the records that `wanted` names (empty: all), a line each.
void write_json(const Story& story, const std::function<bool(const Record&)>& wanted,
                const std::function<void(std::string_view line)>& out);

}  // namespace anyrdma::recording
