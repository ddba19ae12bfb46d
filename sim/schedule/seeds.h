// The seeds of a run: the first, and others from later decisions on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace anyrdma::sim {

/// From a decision of the schedule on, the run goes on with another seed.
struct Branch {
  std::uint64_t until = 0;  ///< the decision, from 0: see Chooser
  std::uint64_t seed = 0;
  bool operator==(const Branch&) const = default;
};

/// Of one run. Its random streams follow it: from a branch on, each goes on as the stream of its
/// name that the other seed has.
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
