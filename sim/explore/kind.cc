#include "sim/explore/kind.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace anyrdma::sim {
namespace {

std::string without_numbers(std::string_view text) {
  std::string kind;
  for (const char c : text) {
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit) kind += c;
    if (digit && (kind.empty() || kind.back() != '#')) kind += '#';
  }
  return kind;
}

}  // namespace

std::string kind_of(std::string_view problem) {
  const std::size_t first = std::min(problem.find('\n'), problem.size());
  std::string kind = without_numbers(problem.substr(0, first));
  if (!kind.ends_with(':')) return kind;
  std::set<std::string> listed;
  for (std::size_t begin = first + 1; begin < problem.size();) {
    const std::size_t end = std::min(problem.find('\n', begin), problem.size());
    if (problem[begin] != ' ') listed.insert(without_numbers(problem.substr(begin, end - begin)));
    begin = end + 1;
  }
  for (const std::string& line : listed) kind += '\n' + line;
  return kind;
}

}  // namespace anyrdma::sim
