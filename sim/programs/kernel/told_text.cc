#include "sim/programs/kernel/told_text.h"

namespace anyrdma::sim::programs::told_text {

std::vector<std::string_view> split_at(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string joined_with_blanks(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) text += word + " ";  // the first word may be empty
  if (!text.empty()) text.pop_back();
  return text;
}

bool has_name(std::string_view names, std::string_view name) {
  return names.find(" " + std::string(name) + " ") != std::string_view::npos;
}

}  // namespace anyrdma::sim::programs::told_text
