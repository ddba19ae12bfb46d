#include "tools/scenario_file.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <optional>
#include <utility>

#include "tools/memory_option.h"
#include "tools/words.h"
#include "transport/fault/plan/scalars.h"

namespace anyrdma::tools {
namespace {

constexpr std::string_view kBlanks = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

/// The first word; `text` becomes the rest.
std::string take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(kBlanks), text.size());
  std::string word(text.substr(0, end));
  text = trimmed(text.substr(end));
  return word;
}

/// Without its comment: that begins with the line or behind a blank, and not in a command's quotes.
/// `client#3` is a name of plans.
std::string_view without_comment(std::string_view line) {
  const bool is_command = line.starts_with("on ") || line.starts_with("background ");
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool begins = i == 0 || kBlanks.find(line[i - 1]) != std::string_view::npos;
    if (c == '#' && begins && quote == 0) return trimmed(line.substr(0, i));
    if (is_command && (c == '\'' || c == '"') && (quote == 0 || quote == c))
      quote = quote == 0 ? c : '\0';
  }
  return line;
}

std::optional<std::vector<int>> numbers_in(std::string_view text) {
  std::vector<int> numbers;
  while (!text.empty()) {
    const std::string word = take_word(text);
    int number = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), number);
    if (error != std::errc() || end != word.data() + word.size() || number < 0 || number > 255)
      return std::nullopt;
    numbers.push_back(number);
  }
  if (numbers.empty()) return std::nullopt;
  return numbers;
}

/// Why not; empty: it is one.
std::string take_expectation(std::string_view rest, ProgramScenario& scenario) {
  Expectation expectation{.program = take_word(rest)};
  if (expectation.program.find('/') == std::string::npos)
    return "name a program as in client/rping, not '" + expectation.program + "'";
  using Kind = Expectation::Kind;
  std::string word = take_word(rest);
  if (word == "status") {
    const auto numbers = numbers_in(rest);
    if (!numbers) return "a status is a number from 0 to 255, not '" + std::string(rest) + "'";
    expectation.statuses = *numbers;
  } else if (word == "any" && (rest == "status" || rest == "end")) {
    expectation.kind = rest == "end" ? Kind::kAnyEnd : Kind::kAnyStatus;
  } else {
    const bool none = word == "no";
    if (none) word = take_word(rest);
    if (word != "output" || rest.empty())
      return "say 'status N...', 'any status', 'any end', 'output TEXT' or 'no output TEXT'";
    expectation.kind = none ? Kind::kNoOutput : Kind::kOutput;
    expectation.text = rest;
  }
  scenario.expectations.push_back(std::move(expectation));
  return {};
}

/// Where it is in the file, so that who finds a mistake in the plan knows its line.
void take_plan(std::string_view line, std::size_t number, std::string& plan) {
  const auto lines = static_cast<std::size_t>(std::count(plan.begin(), plan.end(), '\n'));
  plan.append(number - 1 - lines, '\n').append(line).append("\n");
}

std::string take_line(std::string_view line, std::size_t number, ProgramScenario& scenario) {
  const std::string what = take_word(line);
  if (what == "fault" || what == "menu") {
    take_plan(line, number, what == "fault" ? scenario.faults : scenario.menu);
    return {};
  }
  if (what == "expect") return take_expectation(line, scenario);
  if (what == "limit") {
    return take_limit(line, scenario)
               ? ""
               : "a limit is a time such as 10s, not '" + std::string(line) + "'";
  }
  if (what == "patience") {
    return take_patience(line, scenario)
               ? ""
               : "a patience is a time such as 10s, not '" + std::string(line) + "'";
  }
  if (what == "memory") {
    scenario.memory = line;
    return verbs::soft::memory_profile_of(line) ? "" : no_such_memory(line);
  }
  if (what == "strict") {
    scenario.strict = true;
    return line.empty() ? "" : "'strict' stands alone";
  }
  const std::string host = take_word(line);
  if (line.empty()) return "'" + what + "' wants a host and more";
  if (what == "host") {
    std::string text = host + "=";
    for (bool more = false; !line.empty(); more = true) text += (more ? "," : "") + take_word(line);
    scenario.hosts.push_back(std::move(text));
  } else if (what == "on") {
    scenario.programs.emplace_back(host, line);
  } else if (what == "background") {
    scenario.background.emplace_back(host, line);
  } else {
    return "'" + what +
           "' is nothing a line begins with: say host, on, background, fault, menu, limit, "
           "patience, memory, strict or expect";
  }
  return {};
}

}  // namespace

bool take_limit(std::string_view word, ProgramScenario& scenario) {
  return fault::parse_word("limit", word, scenario.limit).empty() &&
         scenario.limit > verbs::Duration::zero();
}

bool take_patience(std::string_view word, ProgramScenario& scenario) {
  return fault::parse_word("patience", word, scenario.patience).empty() &&
         scenario.patience > verbs::Duration::zero();
}

verbs::OrWhyNot<ProgramScenario> parse_scenario(std::string_view name, std::string_view text) {
  ProgramScenario scenario;
  std::size_t number = 0;
  for (const std::string& whole : split(text, '\n')) {
    ++number;
    const std::string_view line = without_comment(trimmed(whole));
    if (line.empty()) continue;
    if (const std::string problem = take_line(line, number, scenario); !problem.empty())
      return verbs::WhyNot{std::string(name) + ":" + std::to_string(number) + ": " + problem + "."};
  }
  if (scenario.programs.empty())
    return verbs::WhyNot{std::string(name) +
                         ": no program is to run. Add a line 'on HOST COMMAND'."};
  return scenario;
}

verbs::OrWhyNot<ProgramScenario> read_scenario(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return verbs::WhyNot{"the scenario '" + path + "' cannot be read. Check the path."};
  return parse_scenario(path, std::string(std::istreambuf_iterator<char>(file), {}));
}

}  // namespace anyrdma::tools
