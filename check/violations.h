// Violations that checkers found, one line each, with the checker's name first.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

namespace anyrdma::check {

/// An id as the trace knows it: its host's name and its number there.
struct IdName {
  std::string host;
  std::uint64_t id = 0;
  bool operator==(const IdName&) const = default;
  bool operator<(const IdName& other) const {
    return std::tie(host, id) < std::tie(other.host, other.id);
  }
  [[nodiscard]] std::string to_string() const { return host + "#" + std::to_string(id); }
};

/// Shared by all checkers of one world; outlives them.
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
