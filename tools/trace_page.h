// `anyrdma trace FILE --html PAGE`: recordings as a page that any browser opens.
#pragma once

#include <string>
#include <vector>

#include "recording/view/story.h"

namespace anyrdma::tools {

/// Writes the page of one recording, or of two beside each other. Empty if all went well, else a
/// sentence without its end.
[[nodiscard]] std::string write_trace_page(const std::vector<const recording::Story*>& stories,
                                           const std::string& path);

}  // namespace anyrdma::tools
