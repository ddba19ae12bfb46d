// The order in which movers are to run, followed as far as a run allows.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace anyrdma::sim::explain {

/// A list of movers (probe.h). At each step the first of them that can run runs, and is left out.
class Script {
 public:
  explicit Script(std::vector<std::uint64_t> movers) : movers_(std::move(movers)) {}

  /// Returns the index of the candidate that runs next; nullopt: no mover of the list can run.
  [[nodiscard]] std::optional<std::size_t> next(std::span<const std::uint64_t> candidates) {
    const std::size_t end = std::min(movers_.size(), begin_ + kAhead);
    for (std::size_t i = begin_; i < end; ++i) {
      const auto found = std::ranges::find(candidates, movers_[i]);
      if (found == candidates.end()) continue;
      // Movers that cannot run yet move back by one place.
      std::rotate(movers_.begin() + static_cast<std::ptrdiff_t>(begin_),
                  movers_.begin() + static_cast<std::ptrdiff_t>(i),
                  movers_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      ++begin_;
      return static_cast<std::size_t>(found - candidates.begin());
    }
    return std::nullopt;
  }

 private:
  static constexpr std::size_t kAhead = 1024;  ///< a run that is so far off follows no longer
  std::vector<std::uint64_t> movers_;
  std::size_t begin_ = 0;
};

}  // namespace anyrdma::sim::explain
