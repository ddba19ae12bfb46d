// Writes recordings as an HTML page that any browser opens (docs/page.md).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "recording/view/story.h"

namespace anyrdma::recording {

/// Writes the page of one recording, or of two recordings beside each other. `explanation`: why the
/// first one fails, as one JSON object (docs/explain.md), which the page then shows; empty:
/// unknown. Returns an empty text on success, else the error as a sentence without full stop.
[[nodiscard]] std::string write_story_page(const std::vector<const Story*>& stories,
                                           const std::string& path,
                                           std::string_view explanation = {});

}  // namespace anyrdma::recording
