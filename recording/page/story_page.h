// Recordings as a page that any browser opens (docs/page.md).
#pragma once

#include <string>
#include <vector>

#include "recording/view/story.h"

namespace anyrdma::recording {

/// Writes the page of one recording, or of two beside each other. Empty if all went well, else a
/// sentence without its end.
[[nodiscard]] std::string write_story_page(const std::vector<const Story*>& stories,
                                           const std::string& path);

}  // namespace anyrdma::recording
