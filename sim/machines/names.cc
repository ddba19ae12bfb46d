#include "sim/machines/names.h"

#include <algorithm>

namespace anyrdma::sim {

bool is_name(std::string_view text, std::size_t longest) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !text.empty() && text.size() <= longest && is_plain(text.front()) &&
         std::ranges::all_of(
             text, [&](char c) { return is_plain(c) || c == '.' || c == '-' || c == '_'; });
}

std::string in_quotes(std::string_view word) {
  constexpr std::size_t kShownMax = 100;
  const std::string text(word.substr(0, kShownMax));
  return "'" + text + (word.size() > kShownMax ? "...'" : "'");
}

}  // namespace anyrdma::sim
