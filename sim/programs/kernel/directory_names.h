// Positions in directories, which programs read in the order of the names.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace anyrdma::sim::programs {

/// A position in a directory, as of lseek(2) and telldir(3), stands for a name, whichever directory
/// that is in: reading continues with the next name in order. Names that come or go do not matter,
/// and neither does which process reads.
class DirectoryNames {
 public:
  /// Each file system can have a position of so many bits. This one is behind all names.
  static constexpr std::int64_t kEnd = 0x7fff'ffff;

  /// Returns the position behind a name: greater than 0.
  [[nodiscard]] std::int64_t position_behind(std::string_view name) {
    if (const auto found = positions_.find(name); found != positions_.end()) return found->second;
    const auto position = static_cast<std::int64_t>(names_.size()) + 1;
    names_.push_back(&positions_.emplace(name, position).first->first);
    return position;
  }
  /// Null: there is no such position.
  [[nodiscard]] const std::string* name_before(std::int64_t position) const {
    const auto index = static_cast<std::uint64_t>(position) - 1;
    return index < names_.size() ? names_[index] : nullptr;
  }

 private:
  std::map<std::string, std::int64_t, std::less<>> positions_;
  std::vector<const std::string*> names_;
};

}  // namespace anyrdma::sim::programs
