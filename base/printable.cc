#include "base/printable.h"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <cstdint>

#include "base/text.h"

namespace anyrdma {
namespace {

/// Of a word that is too long.
constexpr std::size_t kShownOfWord = 100;

std::uint8_t byte_at(std::string_view text, std::size_t i) {
  return static_cast<std::uint8_t>(text[i]);
}

std::string escaped(std::string_view text, std::string_view kept) {
  std::string safe;
  while (!text.empty()) {
    const std::size_t size = character_at(text);
    const std::string_view character = text.substr(0, size == 0 ? 1 : size);
    const std::uint8_t first = byte_at(text, 0);
    const bool control =
        (first < 0x20 || first == 0x7f) && kept.find(text.front()) == std::string_view::npos;
    if (size == 0 || control) {
      append(safe, "\\x%02x", first);
    } else if (is_unprintable(character)) {
      append(safe, "\\u%04x", static_cast<unsigned>(code_point_of(character)));
    } else {
      safe += character;
    }
    text.remove_prefix(character.size());
  }
  return safe;
}

}  // namespace

std::size_t character_at(std::string_view text) {
  const std::uint8_t first = byte_at(text, 0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte_at(text, i) & 0xc0) != 0x80) return 0;
  }
  const std::uint8_t second = byte_at(text, 1);
  const bool overlong = (first == 0xe0 && second < 0xa0) || (first == 0xf0 && second < 0x90);
  const bool surrogate = first == 0xed && second >= 0xa0;
  const bool too_high = first == 0xf4 && second >= 0x90;
  return overlong || surrogate || too_high ? 0 : size;
}

char32_t code_point_of(std::string_view character) {
  const std::uint8_t first = byte_at(character, 0);
  const std::size_t size = character.size();
  char32_t number = size == 1 ? first : first & (0xffu >> (size + 1));
  for (std::size_t i = 1; i < size; ++i) number = (number << 6) | (byte_at(character, i) & 0x3fu);
  return number;
}

// Sources: Unicode 15, categories Cc, Zl and Zp, and property Bidi_Control.
bool is_unprintable(std::string_view character) {
  if (character.size() < 2) return false;
  const char32_t number = code_point_of(character);
  const auto within = [number](char32_t first, char32_t last) {
    return number >= first && number <= last;
  };
  return within(0x80, 0x9f) || number == 0x61c || within(0x200e, 0x200f) ||
         within(0x2028, 0x202e) || within(0x2066, 0x2069);
}

std::string printable(std::string_view text) {
  return escaped(text, "\t\n");
}

std::string printable_line(std::string_view text) {
  return escaped(text, "");
}

std::string with_short_words(std::string_view text) {
  std::string all;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(" \t\n"), text.size());
    const std::string_view word = text.substr(0, end);
    if (word.size() <= PATH_MAX) {
      all += word;
    } else {
      all.append(word.substr(0, kShownOfWord))
          .append("... (")
          .append(std::to_string(word.size()))
          .append(" bytes)");
    }
    text.remove_prefix(end);
    if (text.empty()) break;
    all += text.front();
    text.remove_prefix(1);
  }
  return all;
}

}  // namespace anyrdma
