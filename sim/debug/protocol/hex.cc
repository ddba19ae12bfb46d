#include "sim/debug/protocol/hex.h"

#include <array>
#include <charconv>

namespace anyrdma::sim::debug {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

std::optional<unsigned> digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  if (c >= 'a' && c <= 'f') return static_cast<unsigned>(c - 'a') + 10;
  if (c >= 'A' && c <= 'F') return static_cast<unsigned>(c - 'A') + 10;
  return std::nullopt;
}

}  // namespace

std::string to_hex(std::string_view bytes) {
  std::string digits;
  digits.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<std::uint8_t>(c);
    digits += kDigits[byte >> 4];
    digits += kDigits[byte & 0xf];
  }
  return digits;
}

std::optional<std::string> from_hex(std::string_view digits) {
  if (digits.size() % 2 != 0) return std::nullopt;
  std::string bytes;
  bytes.reserve(digits.size() / 2);
  for (std::size_t i = 0; i < digits.size(); i += 2) {
    const auto high = digit_of(digits[i]);
    const auto low = digit_of(digits[i + 1]);
    if (!high || !low) return std::nullopt;
    bytes += static_cast<char>(*high << 4 | *low);
  }
  return bytes;
}

std::string number_text(std::uint64_t number) {
  std::array<char, 2 * sizeof number> text{};
  char* const end = std::to_chars(text.begin(), text.end(), number, 16).ptr;
  return {text.begin(), end};
}

bool Scanner::take(std::string_view word) {
  if (!rest_.starts_with(word)) return false;
  rest_.remove_prefix(word.size());
  return true;
}

std::optional<std::uint64_t> Scanner::take_number() {
  constexpr std::size_t kDigitsMax = 16;
  std::uint64_t number = 0;
  std::size_t count = 0;
  while (count < rest_.size()) {
    const auto digit = digit_of(rest_[count]);
    if (!digit) break;
    if (++count > kDigitsMax) return std::nullopt;
    number = number << 4 | *digit;
  }
  if (count == 0) return std::nullopt;
  rest_.remove_prefix(count);
  return number;
}

std::string_view Scanner::take_until(char end) {
  const std::size_t at = rest_.find(end);
  const std::string_view taken = rest_.substr(0, at);
  rest_.remove_prefix(at == std::string_view::npos ? rest_.size() : at + 1);
  return taken;
}

}  // namespace anyrdma::sim::debug
