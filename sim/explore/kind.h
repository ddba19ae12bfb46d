// Tells kinds of failures apart.
#pragma once

#include <string>
#include <string_view>

namespace anyrdma::sim {

/// How a problem begins, without its numbers; where that announces a list, with what is on it,
/// whatever the order, and how often.
[[nodiscard]] std::string kind_of(std::string_view problem);

}  // namespace anyrdma::sim
