// Collects the violations that checkers find: one line each, which begins with the checker's name.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace anyrdma::check {

/// Identifies an id by its host's name and by its number on that host, as traces print it.
struct IdName {
  /// The name of the host or program. Of equal names there is one object, which outlives this one.
  const std::string* name = nullptr;
  std::uint64_t id = 0;
  /// Precondition: the id has a name.
  [[nodiscard]] const std::string& host() const { return *name; }
  bool operator==(const IdName&) const = default;
  bool operator<(const IdName& other) const {
    const int order = name == other.name ? 0 : name->compare(*other.name);
    return order < 0 || (order == 0 && id < other.id);
  }
  [[nodiscard]] std::string to_string() const { return host() + "#" + std::to_string(id); }
  /// For hash tables. Orders nothing.
  struct Hash {
    std::size_t operator()(const IdName& id_name) const noexcept {
      constexpr std::size_t kSpread = 0x9e3779b97f4a7c15;
      return std::hash<const std::string*>()(id_name.name) ^ (id_name.id * kSpread);
    }
  };
};

/// The list of violations, which all checkers of one run share. It must outlive them.
class Violations {
 public:
  void add(std::string_view checker, const std::string& text) {
    lines_.push_back(std::string(checker) + ": " + text);
  }
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

 private:
  std::vector<std::string> lines_;
};

}  // namespace anyrdma::check
