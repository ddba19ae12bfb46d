#include "sim/programs/kernel/told_tables.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/number.h"

namespace anyrdma::sim::programs::told_text {

std::string objects_of(std::string_view text, const Context& /*context*/) {
  constexpr std::string_view kHidden = " atime dtime ctime stime rtime otime rss swap ";
  constexpr std::string_view kBlank = " \t";
  std::vector<std::string> names;
  return each_line(text, [&](std::string_view line) {
    const bool is_head = names.empty();
    std::string changed(line);
    std::size_t column = 0;
    for (std::size_t begin = 0; (begin = line.find_first_not_of(kBlank, begin)) != line.npos;) {
      const std::size_t end = std::min(line.find_first_of(kBlank, begin), line.size());
      if (is_head) names.emplace_back(line.substr(begin, end - begin));
      if (!is_head && column < names.size() && has_name(kHidden, names[column])) {
        changed.replace(begin, end - begin, end - begin, ' ');
        changed[end - 1] = '0';
      }
      ++column;
      begin = end;
    }
    return changed;
  });
}

std::string first_line_of(std::string_view text, const Context& /*context*/) {
  return std::string(text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1));
}

std::string sorted_lines_of(std::string_view text, const Context& /*context*/) {
  std::vector<std::string_view> lines = split_at(text, '\n');
  lines.pop_back();  // behind the last end of a line
  std::ranges::sort(lines);
  std::string sorted;
  for (const std::string_view line : lines) sorted += std::string(line) + "\n";
  return sorted;
}

std::string counts_of(std::string_view text, const Context& /*context*/) {
  return each_line(text, [](std::string_view line) {
    std::vector<std::string> words;
    for (const std::string_view word : split_at(line, ' '))
      words.emplace_back(whole_number<std::uint64_t>(word) ? "0" : word);
    return joined_with_blanks(words);
  });
}

std::string counters_of(std::string_view text, const Context& /*context*/) {
  return each_line(text, [](std::string_view line) {
    const std::size_t number = line.find_last_not_of("0123456789");
    return std::string(line.substr(0, number == std::string_view::npos ? 0 : number + 1)) + "0";
  });
}

}  // namespace anyrdma::sim::programs::told_text
