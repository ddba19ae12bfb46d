// Reads numbers from text, without a locale, white space or a '+' in front.
#pragma once

#include <charconv>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string_view>
#include <system_error>

namespace anyrdma {

/// Removes the number at the beginning of `text`, as many digits as there are, and returns it.
/// nullopt, and `text` as it was: there is no number, or it is too large for the type. `base`: from
/// 2 to 36, without a prefix such as 0x. Any thread may call it.
template <std::integral Number>
[[nodiscard]] std::optional<Number> take_number(std::string_view& text, int base = 10) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// Returns the number that the whole `text` is. nullopt: it is none, or too large for the type.
template <std::integral Number>
[[nodiscard]] std::optional<Number> whole_number(std::string_view text, int base = 10) {
  const auto number = take_number<Number>(text, base);
  return text.empty() ? number : std::nullopt;
}

}  // namespace anyrdma
