// The tree of everything that could be chosen, walked from its first leaf to its last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace anyrdma::interleavings {

class Choices {
 public:
  /// One of `count`, and all others in later runs.
  [[nodiscard]] std::size_t choose(std::size_t count) {
    if (frozen_ || count == 1) return 0;
    if (depth_ == path_.size()) path_.push_back({0, count});
    return path_[depth_++].chosen;
  }
  /// From here on the first ones, which is no reason to come back.
  void freeze() { frozen_ = true; }

  void begin() {
    depth_ = 0;
    frozen_ = false;
  }
  /// After a run. False: that was the last one.
  [[nodiscard]] bool next() {
    path_.resize(depth_);
    while (!path_.empty() && path_.back().chosen + 1 == path_.back().count) path_.pop_back();
    if (path_.empty()) return false;
    ++path_.back().chosen;
    return true;
  }

 private:
  struct Node {
    std::size_t chosen;
    std::size_t count;
  };
  std::vector<Node> path_;
  std::size_t depth_ = 0;
  bool frozen_ = false;
};

}  // namespace anyrdma::interleavings
