// The names of hosts, interfaces and devices.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace anyrdma::sim {

/// Whether a text is a name of at most `longest` characters: letters, digits, '.', '-' and '_',
/// with a letter or a digit first. Any thread.
[[nodiscard]] bool is_name(std::string_view text, std::size_t longest);

/// Returns a word in quotes for a sentence. Of a long word, only the first 100 characters. Any
/// thread.
[[nodiscard]] std::string in_quotes(std::string_view word);

}  // namespace anyrdma::sim
