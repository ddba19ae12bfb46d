// Text of programs and of files that others wrote, before it goes to a terminal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace anyrdma {

/// Escapes everything that could change what a terminal shows: control characters except tab and
/// newline, bytes that are not UTF-8, C1 controls, line separators, and the characters that reorder
/// text (Unicode's bidirectional formatting characters). A byte becomes `\x1b`, a character
/// `\u202e`.
[[nodiscard]] std::string printable(std::string_view text);
/// The same for one line: tabs and newlines are escaped, too.
[[nodiscard]] std::string printable_line(std::string_view text);

/// Returns how many bytes the first character of `text` has in UTF-8; 0: it is not UTF-8.
/// Precondition: `text` is not empty.
[[nodiscard]] std::size_t character_at(std::string_view text);
/// Whether the character, given in UTF-8, is one that printable() escapes as `\uXXXX`.
[[nodiscard]] bool is_unprintable(std::string_view character);
/// Returns the code point of a character that is given in UTF-8.
[[nodiscard]] char32_t code_point_of(std::string_view character);

/// Shortens each word of more than 4096 bytes, the longest path, to its beginning and its length:
/// "xxxx... (10000000 bytes)".
[[nodiscard]] std::string with_short_words(std::string_view text);

}  // namespace anyrdma
