#include "tools/program_scenario.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "tools/host_lines.h"
#include "tools/words.h"

namespace anyrdma::tools {
namespace {

std::string list_of(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string problem_with_program(const ProgramScenario& scenario, const Placed& program) {
  const bool known = std::ranges::any_of(
      scenario.hosts, [&](const auto& each) { return each.name == program.host; });
  if (!known) {
    return program.where + ": there is no host '" + program.host + "'. Add a line 'host " +
           program.host + " ADDRESS', or --host " + program.host + "=ADDRESS.";
  }
  const auto words = words_of(program.command);
  if (words && !words->empty()) return "";
  return program.where + " '" + program.command +
         "': " + (words ? "the command line is empty." : "a quote is not closed.");
}

/// The first host or program that is too many.
std::string problem_with_size(const ProgramScenario& scenario) {
  if (scenario.hosts.size() > kHostsMax)
    return scenario.hosts[kHostsMax].where + ": the scenario has more than " +
           std::to_string(kHostsMax) + " hosts. Remove some.";
  std::size_t left = kProgramsMax;
  for (const auto* all : {&scenario.background, &scenario.programs}) {
    if (all->size() > left)
      return (*all)[left].where + ": the scenario starts more than " +
             std::to_string(kProgramsMax) + " programs. Remove some.";
    left -= all->size();
  }
  return "";
}

}  // namespace

std::string name_of(const Placed& program) {
  const auto words = words_of(program.command);
  if (!words || words->empty()) return "";
  if (!program.name.empty()) return program.host + "/" + program.name;
  return program.host + "/" + std::filesystem::path(words->front()).filename().string();
}

std::size_t line_of_fault(std::string_view plan, std::size_t number) {
  std::size_t line = 0;
  for (const std::string& text : split(plan, '\n')) {
    ++line;
    if (!text.empty() && --number == 0) return line;
  }
  return line;
}

std::string problem_with(const ProgramScenario& scenario) {
  if (std::string problem = problem_with_size(scenario); !problem.empty()) return problem;
  if (std::string problem = problem_with_host_lines(scenario); !problem.empty()) return problem;
  std::set<std::string> names;
  std::map<std::string, unsigned> numbers;
  for (const auto* all : {&scenario.background, &scenario.programs}) {
    for (const Placed& program : *all) {
      std::string problem = problem_with_program(scenario, program);
      if (!problem.empty()) return problem;
      const std::string name = name_of(program);
      names.insert(name);
      if (const unsigned number = ++numbers[name]; number > 1)
        names.insert(name + "#" + std::to_string(number));
    }
  }
  for (const Expectation& each : scenario.expectations) {
    if (names.contains(each.program)) continue;
    return each.where + ": the scenario starts no program '" + each.program +
           "'. Programs: " + list_of(names) + ".";
  }
  return "";
}

std::map<std::string, std::string> kept_on(const ProgramScenario& scenario,
                                           std::map<std::string, std::string> of_host) {
  if (scenario.buffered) of_host["ANYRDMA_BUFFERED"] = "1";  // see sim/points/lines.cc
  return of_host;
}

}  // namespace anyrdma::tools
