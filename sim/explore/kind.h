// Tells kinds of failures apart.
#pragma once

#include <string>
#include <string_view>

namespace anyrdma::sim {

/// Returns the text that two failures of one kind have in common: the beginning of the problem,
/// without its numbers. If the beginning announces a list, the distinct entries of the list are
/// included, in any order and number.
[[nodiscard]] std::string kind_of(std::string_view problem);

}  // namespace anyrdma::sim
