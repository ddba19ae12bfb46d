// Command lines in options and files, as a shell reads them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace anyrdma::tools {

/// Splits a line into words. Quotes keep blanks, a backslash keeps the next character, and nothing
/// is expanded. nullopt: a quote is not closed.
[[nodiscard]] std::optional<std::vector<std::string>> words_of(std::string_view line);

/// A word in quotes if a shell needs them.
[[nodiscard]] std::string shell_word(const std::string& word);

/// The lines that are not indented, each with the indented ones below it; without their last ends.
[[nodiscard]] std::vector<std::string> paragraphs_of(std::string_view lines);

/// The parts between separators, empty ones, too.
[[nodiscard]] std::vector<std::string> split(std::string_view text, char separator);

}  // namespace anyrdma::tools
