// The parts of a page that are the same for every run. page/BUILD.bazel makes them of the files in
// this folder.
#pragma once

#include <span>
#include <string_view>

namespace anyrdma::page {

extern const std::string_view kHead;
extern const std::string_view kBody;
extern const std::span<const std::string_view> kStyle;
extern const std::span<const std::string_view> kScript;

}  // namespace anyrdma::page
