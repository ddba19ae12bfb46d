// Tells kinds of failures apart.
#pragma once

#include <string>
#include <string_view>

namespace anyrdma::sim {

/// Returns the text that all failures of one kind have in common: the first line of the problem,
/// with # for each number. If that line ends with a colon, the distinct lines of the list below it
/// are added, sorted.
[[nodiscard]] std::string kind_of(std::string_view problem);

}  // namespace anyrdma::sim
