// A set of numbers that is small if the numbers are consecutive, as those of destroyed ids are.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace anyrdma::check {

class NumberSet {
 public:
  void insert(std::uint64_t number) {
    auto after = ranges_.upper_bound(number);
    if (after != ranges_.begin()) {
      const auto before = std::prev(after);
      if (number <= before->second) return;
      if (number == before->second + 1) {
        before->second = number;
        if (after != ranges_.end() && after->first == number + 1) {
          before->second = after->second;
          ranges_.erase(after);
        }
        return;
      }
    }
    if (after == ranges_.end() || after->first != number + 1) {
      ranges_.emplace_hint(after, number, number);
      return;
    }
    const std::uint64_t last = after->second;
    ranges_.emplace_hint(ranges_.erase(after), number, last);
  }
  [[nodiscard]] bool contains(std::uint64_t number) const {
    const auto after = ranges_.upper_bound(number);
    return after != ranges_.begin() && number <= std::prev(after)->second;
  }
  /// The number of ranges of consecutive numbers, to which the used memory is proportional.
  [[nodiscard]] std::size_t ranges() const { return ranges_.size(); }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  ///< first and last number of each
};

}  // namespace anyrdma::check
