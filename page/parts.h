// The parts of the HTML page that are equal for every run. page/BUILD.bazel generates them from the
// script and style files in the folder page.
#pragma once

#include <span>
#include <string_view>

namespace anyrdma::page {

extern const std::string_view kHead;
extern const std::string_view kBody;
extern const std::span<const std::string_view> kStyle;
extern const std::span<const std::string_view> kScript;

}  // namespace anyrdma::page
