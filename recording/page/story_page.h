// Writes recordings as an HTML page that any browser opens (docs/page.md).
#pragma once

#include <string>
#include <vector>

#include "recording/view/story.h"

namespace anyrdma::recording {

/// Writes the page of one recording, or of two recordings beside each other. Returns an empty text
/// on success, else the error as a sentence without full stop.
[[nodiscard]] std::string write_story_page(const std::vector<const Story*>& stories,
                                           const std::string& path);

}  // namespace anyrdma::recording
