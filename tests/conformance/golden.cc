#include "tests/conformance/golden.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace anyrdma::conformance {
namespace {

constexpr std::string_view kTitle = "== ";
constexpr std::string_view kPreamble =
    "# What these scenarios showed, and in parentheses where. Written by the tests, with --write:\n"
    "# see tests/conformance/scenario.h.\n";

std::string group_of(const std::string& name) {
  return name.substr(0, name.find('/'));
}

/// "group/name (origin)" into its parts; false: it is none.
bool parse_title(std::string_view title, std::string& name, std::string& origin) {
  const auto space = title.find(" (");
  if (space == std::string_view::npos || !title.ends_with(')')) return false;
  name = title.substr(0, space);
  origin = title.substr(space + 2, title.size() - space - 3);
  return name.find('/') != std::string::npos && find_backend_kind(origin) != nullptr;
}

}  // namespace

Goldens parse_records(std::string_view text, std::string& problem) {
  Goldens goldens;
  Golden* current = nullptr;
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.empty() || line.front() == '#') continue;
    if (line.starts_with(kTitle)) {
      std::string name;
      std::string origin;
      if (!parse_title(std::string_view(line).substr(kTitle.size()), name, origin) ||
          goldens.contains(name)) {
        problem = "line " + std::to_string(number) + ": not a title, or a second time: " + line;
        return {};
      }
      current = &goldens[name];
      current->origin = origin;
    } else if (current == nullptr) {
      problem = "line " + std::to_string(number) + ": belongs to no scenario: " + line;
      return {};
    } else {
      current->lines.push_back(line);
    }
  }
  return goldens;
}

std::string records_text(const Goldens& goldens, std::string_view group) {
  std::string text(kPreamble);
  for (const auto& [name, golden] : goldens) {
    if (group_of(name) != group) continue;
    text += "\n" + std::string(kTitle) + name + " (" + golden.origin + ")\n";
    for (const std::string& line : golden.lines) text += line + "\n";
  }
  return text;
}

Goldens load_records(const std::string& folder, std::string& problem) {
  Goldens all;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::ifstream file(entry.path());
    std::ostringstream text;
    text << file.rdbuf();
    std::string trouble;
    for (auto& [name, golden] : parse_records(text.str(), trouble)) {
      if (group_of(name) != entry.path().stem()) trouble = name + " belongs into another file";
      all[name] = std::move(golden);
    }
    if (!trouble.empty()) problem = entry.path().filename().string() + ": " + trouble;
  }
  return all;
}

void save_records(const std::string& folder, const Goldens& goldens) {
  std::set<std::string> groups;
  for (const auto& [name, golden] : goldens) groups.insert(group_of(name));
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!groups.contains(entry.path().stem())) std::filesystem::remove(entry.path());
  }
  for (const std::string& group : groups) {
    std::ofstream(folder + "/" + group + ".txt") << records_text(goldens, group);
  }
}

Lines difference(const Lines& golden, const Lines& actual) {
  // common[i][j]: length of the longest common subsequence of what begins at i and at j.
  const std::size_t rows = golden.size() + 1;
  const std::size_t columns = actual.size() + 1;
  std::vector<std::vector<std::size_t>> common(rows, std::vector<std::size_t>(columns));
  for (std::size_t i = golden.size(); i-- > 0;) {
    for (std::size_t j = actual.size(); j-- > 0;) {
      common[i][j] = golden[i] == actual[j] ? common[i + 1][j + 1] + 1
                                            : std::max(common[i + 1][j], common[i][j + 1]);
    }
  }
  Lines lines;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < golden.size() || j < actual.size()) {
    if (i < golden.size() && j < actual.size() && golden[i] == actual[j]) {
      ++i;
      ++j;
    } else if (j == actual.size() || (i < golden.size() && common[i + 1][j] >= common[i][j + 1])) {
      lines.push_back("-" + golden[i++]);
    } else {
      lines.push_back("+" + actual[j++]);
    }
  }
  return lines;
}

}  // namespace anyrdma::conformance
