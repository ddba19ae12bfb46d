// Writes a recording as JSON lines, for its HTML page and for other programs (docs/recording.md).
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "recording/view/story.h"

namespace anyrdma::recording {

/// Returns a text as a JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD.
[[nodiscard]] std::string json_string(std::string_view text);
/// Writes the header, the lanes (timeline rows), and then each record for which `wanted` returns
/// true, one line each. An empty `wanted` selects all records.
void write_json(const Story& story, const std::function<bool(const Record&)>& wanted,
                const std::function<void(std::string_view line)>& out);

}  // namespace anyrdma::recording
