#include "tools/host_lines.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "base/number.h"

namespace anyrdma::tools {
namespace {

constexpr std::string_view kBetweenWords = " \t";

/// The only one, or a host's name and another one. nullopt: there are none, or more.
std::optional<std::pair<std::string, std::string>> words_in(std::string_view rest) {
  std::vector<std::string> words;
  while (words.size() < 3) {
    rest.remove_prefix(std::min(rest.find_first_not_of(kBetweenWords), rest.size()));
    if (rest.empty()) break;
    const std::size_t end = std::min(rest.find_first_of(kBetweenWords), rest.size());
    words.emplace_back(rest.substr(0, end));
    rest.remove_prefix(end);
  }
  if (words.empty() || words.size() > 2) return std::nullopt;
  return std::pair(words.size() == 2 ? words.front() : std::string(), words.back());
}

std::string take_processors(std::string_view text, sim::HostDescription& description) {
  const auto number = whole_number<unsigned>(text);
  if (!number)
    return "'processors' needs a number, from 1 to " + std::to_string(sim::kProcessorsMax) +
           ", as in 'processors 8' or 'processors HOST 8'";
  description.processors = *number;
  return {};
}

std::string take_memory_size(std::string_view text, sim::HostDescription& description) {
  constexpr std::array<std::pair<std::string_view, unsigned>, 4> kUnits{
      {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}, {"TiB", 40}}};
  const auto number = take_number<std::uint64_t>(text);
  const auto* const unit =
      std::ranges::find(kUnits, text, [](const auto& each) { return each.first; });
  if (!number || unit == kUnits.end())
    return "'ram' needs a size with its unit, KiB, MiB, GiB or TiB, as in 'ram 8GiB' or 'ram HOST "
           "512MiB'";
  const bool fits = *number <= std::numeric_limits<std::uint64_t>::max() >> unit->second;
  description.memory = fits ? *number << unit->second : std::numeric_limits<std::uint64_t>::max();
  return {};
}

void apply(const HostLine& line, sim::HostDescription& description) {
  switch (line.what) {
    case HostLine::What::kProcessors:
      description.processors = line.said.processors;
      break;
    case HostLine::What::kMemory:
      description.memory = line.said.memory;
      break;
    case HostLine::What::kKernel:
      description.kernel = line.said.kernel;
      break;
  }
}

bool is_option(std::string_view where) {
  return where.starts_with("--");
}

}  // namespace

std::string take_host_line(const std::string& what, std::string_view rest, const std::string& where,
                           ProgramScenario& scenario) {
  const auto words = words_in(rest);
  if (!words)
    return "'" + what + "' needs a value, after a host's name if it is for that host alone";
  HostLine line;
  line.host = words->first;
  line.where = where;
  std::string problem;
  if (what == "processors") {
    line.what = HostLine::What::kProcessors;
    problem = take_processors(words->second, line.said);
  } else if (what == "ram") {
    line.what = HostLine::What::kMemory;
    problem = take_memory_size(words->second, line.said);
  } else {
    line.what = HostLine::What::kKernel;
    line.said.kernel = words->second;
  }
  if (problem.empty()) problem = problem_with(line.said);
  if (!problem.empty()) return problem;
  const auto before = std::ranges::find_if(scenario.host_lines, [&](const HostLine& each) {
    return each.what == line.what && each.host == line.host;
  });
  if (before == scenario.host_lines.end()) {
    scenario.host_lines.push_back(std::move(line));
  } else if (is_option(where)) {
    *before = std::move(line);
  } else {
    return "the file has two lines '" + what + "' for " +
           (line.host.empty() ? "all hosts" : "the host " + line.host) + ". Remove one";
  }
  return {};
}

sim::HostDescription description_of(const ProgramScenario& scenario, std::string_view host) {
  sim::HostDescription description;
  for (const std::string_view whose : {std::string_view(), host}) {
    for (const HostLine& each : scenario.host_lines)
      if (each.host == whose) apply(each, description);
  }
  return description;
}

std::string problem_with_host_lines(const ProgramScenario& scenario) {
  for (const HostLine& each : scenario.host_lines) {
    const bool known =
        each.host.empty() || std::ranges::any_of(scenario.hosts, [&](const PlacedHost& host) {
          return host.name == each.host;
        });
    if (!known)
      return each.where + ": there is no host '" + each.host + "'. Add a line 'host " + each.host +
             " ADDRESS', or --host " + each.host + "=ADDRESS.";
    if (each.what != HostLine::What::kMemory) continue;
    const std::string problem = problem_with(each.said, scenario.huge_pages);
    if (!problem.empty()) return each.where + ": " + problem + ".";
  }
  return "";
}

}  // namespace anyrdma::tools
