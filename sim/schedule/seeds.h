// The seeds of one run: the first seed, and further seeds that replace it at later scheduling
// decisions of the run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace anyrdma::sim {

/// A change of seeds at a scheduling decision: from that decision on, the run uses another seed.
struct Branch {
  std::uint64_t until = 0;  ///< the decision, from 0: see Chooser
  std::uint64_t seed = 0;
  bool operator==(const Branch&) const = default;
};

/// The current seed of one run. At each branch (change of seeds), every random stream continues
/// with the numbers that a stream of its name has under the new seed.
class Seeds {
 public:
  /// `branches`: in ascending order.
  explicit Seeds(std::uint64_t first, std::vector<Branch> branches = {})
      : current_(first), branches_(std::move(branches)) {}

  /// The run comes to a decision.
  void reach(std::uint64_t decision) {
    while (taken_ < branches_.size() && branches_[taken_].until <= decision)
      current_ = branches_[taken_++].seed;
  }
  [[nodiscard]] std::uint64_t current() const { return current_; }
  /// How many branches have been taken.
  [[nodiscard]] std::size_t taken() const { return taken_; }

 private:
  std::uint64_t current_;
  std::vector<Branch> branches_;
  std::size_t taken_ = 0;
};

}  // namespace anyrdma::sim
