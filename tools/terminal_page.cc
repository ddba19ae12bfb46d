#include "tools/terminal_page.h"

#include <algorithm>
#include <cctype>
#include <string>
#include <utility>
#include <vector>

namespace anyrdma::tools {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kTermMax = 28;  // columns of a table's first cell

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

/// Where a link of a page in docs/ leads; empty: to a heading of the same page, or out of the tree.
std::string place_of(std::string_view target) {
  target = target.substr(0, target.find('#'));
  if (target.empty() || target.find("://") != std::string_view::npos) return {};
  if (target.starts_with("../")) return std::string(target.substr(3));
  return "docs/" + std::string(target);
}

/// "docs/sim.md" for `[sim.md](sim.md)`, "the language (docs/faults.md)" for a link with words.
std::string link(std::string_view words, std::string_view target) {
  std::string place = place_of(target);
  if (place.empty()) return std::string(words);
  if (place.ends_with(words)) return place;
  return std::string(words) + " (" + place + ")";
}

/// The words and the target of the link that the text begins with; empty: it begins with none.
std::pair<std::string_view, std::string_view> link_at(std::string_view text) {
  const std::size_t middle = text.find(']');
  const std::size_t end = text.find(')');
  if (!text.starts_with('[') || end == std::string_view::npos || middle > end ||
      text[middle + 1] != '(')
    return {};
  return {text.substr(1, middle - 1), text.substr(middle + 2, end - middle - 2)};
}

/// The text without the marks of links and of bold, and without backticks if `bare`.
std::string inline_text(std::string_view text, bool bare) {
  std::string out;
  bool code = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i);
    if (rest.front() == '`') {
      code = !code;
      if (!bare) out += '`';
    } else if (rest.starts_with("\\|")) {
      out += '|';
      ++i;
    } else if (!code && rest.starts_with("**")) {
      ++i;
    } else if (const auto [words, target] = link_at(code ? "" : rest); !target.empty()) {
      out += inline_text(link(words, target), bare);
      i += words.size() + target.size() + std::string_view("[](").size();
    } else {
      out += rest.front();
    }
  }
  return out;
}

/// Appends the words in lines of `kPageColumns`; the current line of `out` is at column `at`, the
/// next ones begin at column `indent`.
void wrap(std::string& out, std::string_view text, std::size_t at, std::size_t indent) {
  bool first = true;
  while (!(text = trimmed(text)).empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    if (!first && at + 1 + word.size() > kPageColumns) {
      out += "\n" + std::string(indent, ' ');
      at = indent;
      first = true;
    }
    if (!first) out += ' ';
    out += word;
    at += word.size() + (first ? 0 : 1);
    first = false;
  }
  out += '\n';
}

std::vector<std::string> cells_of(std::string_view row) {
  std::vector<std::string> cells;
  std::string cell;
  row = trimmed(row);
  row.remove_prefix(1);
  const auto end_cell = [&] {
    cells.push_back(inline_text(trimmed(cell), cells.empty()));
    cell.clear();
  };
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row[i] == '|' && (i == 0 || row[i - 1] != '\\')) {
      end_cell();
    } else {
      cell += row[i];
    }
  }
  if (cells.empty() || !trimmed(cell).empty()) end_cell();
  return cells;
}

class Page {
 public:
  std::string render(std::string_view markdown) {
    while (!markdown.empty()) {
      const std::size_t end = std::min(markdown.find('\n'), markdown.size());
      take(markdown.substr(0, end));
      markdown.remove_prefix(std::min(end + 1, markdown.size()));
    }
    flush();
    return std::move(out_);
  }

 private:
  void take(std::string_view line) {
    if (line.starts_with("```")) {
      flush();
      if (!in_code_) gap();
      in_code_ = !in_code_;
    } else if (in_code_) {
      out_ += line.empty() ? "\n" : std::string(2 * kIndent, ' ') + std::string(line) + "\n";
    } else if (line.starts_with("|")) {
      if (table_.empty()) flush();
      table_.push_back(cells_of(line));
    } else if (trimmed(line).empty()) {
      flush();
      list_ = false;
    } else if (line.starts_with("#")) {
      flush();
      heading(trimmed(line.substr(std::min(line.find_first_not_of('#'), line.size()))));
    } else {
      if (!table_.empty()) flush();
      if (const std::size_t mark = mark_of(line); mark != 0) {
        flush();
        mark_ = mark;
      }
      paragraph_ += (paragraph_.empty() ? "" : " ") + std::string(trimmed(line));
    }
  }

  /// How long the mark of a list's item is, with its blank; 0: none begins here.
  static std::size_t mark_of(std::string_view line) {
    if (line.starts_with("- ")) return 2;
    const std::size_t digits = std::min(line.find_first_not_of("0123456789"), line.size());
    return digits > 0 && line.substr(digits).starts_with(". ") ? digits + 2 : 0;
  }

  void heading(std::string_view text) {
    gap();
    std::string plain = inline_text(text, true);
    std::ranges::transform(plain, plain.begin(), [](unsigned char c) { return std::toupper(c); });
    out_ += plain + "\n";
  }

  void gap() {
    if (!out_.empty() && !out_.ends_with("\n\n")) out_ += '\n';
  }

  /// Prints the paragraph, the item or the table that has been read.
  void flush() {
    if (!table_.empty()) table();
    table_.clear();
    if (!paragraph_.empty()) {
      if (mark_ == 0 || !list_) gap();
      list_ = mark_ != 0;
      out_ += std::string(kIndent, ' ');
      wrap(out_, inline_text(paragraph_, false), kIndent, kIndent + mark_);
    }
    paragraph_.clear();
    mark_ = 0;
  }

  void table() {
    std::size_t width = 0;
    for (const auto& row : table_) {
      if (row[0].size() <= kTermMax) width = std::max(width, row[0].size());
    }
    const std::size_t column = kIndent + width + 2;
    gap();
    for (const auto& row : table_) {
      const bool rule = row[0].find_first_not_of("-: ") == std::string::npos;
      if (rule) {
        out_ += std::string(kIndent, ' ') + std::string(kPageColumns - kIndent, '-') + "\n";
        continue;
      }
      out_ += std::string(kIndent, ' ') + row[0];
      const bool fits = row[0].size() <= width;
      out_ += fits ? std::string(width + 2 - row[0].size(), ' ') : "\n" + std::string(column, ' ');
      std::string rest;
      for (std::size_t i = 1; i < row.size(); ++i) rest += (i == 1 ? "" : "; ") + row[i];
      wrap(out_, rest, column, column);
    }
  }

  std::string out_;
  std::string paragraph_;
  std::vector<std::vector<std::string>> table_;
  std::size_t mark_ = 0;
  bool in_code_ = false;
  bool list_ = false;
};

}  // namespace

std::string terminal_page(std::string_view markdown) {
  return Page().render(markdown);
}

}  // namespace anyrdma::tools
