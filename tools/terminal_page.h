// A page of docs/ as text for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace anyrdma::tools {

/// Columns of each line, except lines of code and words that are longer.
inline constexpr std::size_t kPageColumns = 76;

/// Renders the Markdown that pages use: headings, paragraphs, lists, tables, code and links.
/// Headings begin in the first column and are in capitals, everything else is indented. A row of a
/// table is its first cell and, in a second column, the others. A link names its page:
/// `docs/sim.md`. Any other Markdown is printed as it is.
[[nodiscard]] std::string terminal_page(std::string_view markdown);

}  // namespace anyrdma::tools
