// Lines and words of files below /proc.
#pragma once

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/programs/kernel/numbers.h"

namespace anyrdma::sim::programs {

struct ToldProcess;

namespace told_text {

/// The arguments of all functions that change a text.
struct Context {
  Numbers& numbers;
  const ToldProcess& process;
};

/// Returns what is between the separators, also if it is empty.
[[nodiscard]] std::vector<std::string_view> split_at(std::string_view text, char separator);
[[nodiscard]] std::string joined_with_blanks(std::span<const std::string> words);
/// Whether `name` is one of `names`, each of which has a blank on both sides.
[[nodiscard]] bool has_name(std::string_view names, std::string_view name);

/// Returns each line, without its end, as `change` returns it. nullopt: without the line.
template <typename Change>
[[nodiscard]] std::string lines_of(std::string_view text, Change change) {
  std::string changed;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::optional<std::string> line = change(text.substr(0, end));
    changed += line.value_or("");
    if (line && end < text.size()) changed += '\n';
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return changed;
}

/// Returns each line, without its end, as `change` returns it.
template <typename Change>
[[nodiscard]] std::string each_line(std::string_view text, Change change) {
  return lines_of(text, [&](std::string_view line) { return std::optional(change(line)); });
}

}  // namespace told_text

}  // namespace anyrdma::sim::programs
