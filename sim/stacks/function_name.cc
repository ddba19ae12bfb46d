#include "sim/stacks/function_name.h"

#include <cstddef>

namespace anyrdma::sim::stacks {
namespace {

constexpr std::string_view kUnnamed = "(anonymous namespace)";
constexpr std::string_view kOperator = "operator";

/// Where what begins at `begin` with one of "(<{" ends: behind its counterpart.
std::size_t end_of(std::string_view name, std::size_t begin) {
  std::size_t depth = 0;
  for (std::size_t i = begin; i < name.size(); ++i) {
    const char c = name[i];
    const bool arrow = c == '>' && i > 0 && name[i - 1] == '-';
    if (c == '(' || c == '<' || c == '{') ++depth;
    if ((c == ')' || c == '>' || c == '}') && !arrow && --depth == 0) return i + 1;
  }
  return name.size();
}

}  // namespace

std::string short_name(std::string_view name) {
  std::string text;
  for (std::size_t i = 0; i < name.size();) {
    const std::string_view rest = name.substr(i);
    if (rest.starts_with(kUnnamed)) {
      text += "(anonymous)";
      i += kUnnamed.size();
    } else if (text.ends_with(kOperator) && rest.find('(') != std::string_view::npos) {
      // Its own sign, up to the parameters.
      const std::size_t size = rest.starts_with("()") ? 2 : rest.find('(');
      text += rest.substr(0, size);
      i += size;
    } else if (rest.front() == '{') {
      const std::size_t end = end_of(name, i);
      text += rest.starts_with("{lambda") ? "{lambda}" : name.substr(i, end - i);
      i = end;
    } else if (rest.front() == '(' || rest.front() == '<') {
      i = end_of(name, i);
    } else if (rest.front() == ' ' && rest != " const" && !text.ends_with(kOperator)) {
      text.clear();  // it was what is returned
      ++i;
    } else if (rest == " const") {
      break;
    } else {
      text += rest.front();
      ++i;
    }
  }
  return text.empty() ? std::string(name) : text;
}

}  // namespace anyrdma::sim::stacks
