// Finds two neighbouring numbers at which a verdict changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace anyrdma::sim::explain {

/// The verdicts of several numbers, in their order; fewer of them: the search is over.
using Verdicts = std::function<std::vector<bool>(const std::vector<std::size_t>& numbers)>;

/// Returns a number n, from `low` up to `high` - 1, whose verdict is that of `low`, while n + 1 has
/// that of `high`. nullopt: the search is over. The verdicts of `low` and `high` are known and
/// differ: `at_low` is that of `low`. In between they may change any number of times; the same
/// verdicts lead to the same result.
[[nodiscard]] inline std::optional<std::size_t> bisect(std::size_t low, std::size_t high,
                                                       bool at_low, const Verdicts& verdicts) {
  constexpr std::size_t kAtOnce = 3;  // enough for a few processors
  while (high - low > 1) {
    std::vector<std::size_t> between;
    for (std::size_t i = 1; i <= kAtOnce; ++i) {
      const std::size_t number = low + (high - low) * i / (kAtOnce + 1);
      if (number > low && (between.empty() || number > between.back())) between.push_back(number);
    }
    const std::vector<bool> found = verdicts(between);
    if (found.size() < between.size()) return std::nullopt;
    const auto first = std::ranges::find(found, !at_low);
    const auto at = static_cast<std::size_t>(first - found.begin());
    if (at < between.size()) high = between[at];
    if (at > 0) low = between[at - 1];
  }
  return low;
}

}  // namespace anyrdma::sim::explain
