#include "tools/scenario_file.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "tools/memory_option.h"
#include "tools/standard_menu.h"
#include "tools/words.h"
#include "transport/fault/plan/scalars.h"

namespace anyrdma::tools {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr std::size_t kNameMax = 63;

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
  const bool is_command =
      line.starts_with("on ") || line.starts_with("background ") || line.starts_with("verify ");
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
std::string take_expectation(std::string_view rest, const std::string& where,
                             ProgramScenario& scenario) {
  Expectation expectation{.program = take_word(rest), .where = where};
  if (expectation.program.find('/') == std::string::npos)
    return "name a program as in client/rping, not '" + expectation.program + "'";
  std::string word = take_word(rest);
  if (word == "status") {
    const auto numbers = numbers_in(rest);
    if (!numbers) return "a status is a number from 0 to 255, not '" + std::string(rest) + "'";
    expectation.statuses = *numbers;
  } else if (word == "any" && (rest == "status" || rest == "end")) {
    expectation.kind = rest == "end" ? Expectation::Kind::kAnyEnd : Expectation::Kind::kAnyStatus;
  } else {
    const bool none = word == "no";
    if (none) word = take_word(rest);
    if (word != "output" || rest.empty())
      return "say 'status N...', 'any status', 'any end', 'output TEXT' or 'no output TEXT'";
    expectation.kind = none ? Expectation::Kind::kNoOutput : Expectation::Kind::kOutput;
    expectation.text = rest;
  }
  scenario.expectations.push_back(std::move(expectation));
  return {};
}

/// `menu standard except crash, pause`: `rest` is what comes behind "standard".
std::string take_standard_menu(std::string_view rest, ProgramScenario& scenario) {
  StandardMenu menu;
  if (!rest.empty() && take_word(rest) != "except")
    return "say 'menu standard' or 'menu standard except KIND, KIND'";
  for (std::string word; !rest.empty();) {
    word = take_word(rest);
    for (const std::string& kind : split(word, ',')) {
      if (kind.empty()) continue;
      if (!is_standard_kind(kind))
        return "'" + kind + "' is no kind of fault of the standard menu: " + standard_kinds();
      menu.except.push_back(kind);
    }
  }
  if (scenario.standard) return "there is a line 'menu standard' already";
  scenario.standard = std::move(menu);
  return {};
}

/// `verify COMMAND`, `verify within 10s COMMAND`.
std::string take_verification(std::string_view rest, const std::string& where,
                              ProgramScenario& scenario) {
  VerifyCommand verify{.command = {}, .where = where};
  if (std::string_view line = rest; take_word(line) == "within") {
    const std::string limit = take_word(line);
    if (!fault::parse_word("within", limit, verify.limit).empty() ||
        verify.limit <= verbs::Duration::zero())
      return "the limit of verify is a real time such as 10s, not '" + limit + "'";
    rest = line;
  }
  const auto words = words_of(rest);
  if (!words) return "a quote of the command to verify with does not end";
  if (words->empty()) return "'verify' wants a command";
  verify.command = rest;
  scenario.verifications.push_back(std::move(verify));
  return {};
}

/// `env NAME=VALUE`.
std::string take_variable(std::string_view rest, ProgramScenario& scenario) {
  const std::size_t equals = rest.find('=');
  const std::string_view name = rest.substr(0, equals);
  const auto is_letter = [](char c) {
    return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  };
  const bool good =
      equals != std::string_view::npos && !name.empty() && is_letter(name.front()) &&
      std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
  if (!good) return "a variable is NAME=VALUE, not '" + std::string(rest) + "'";
  scenario.environment.emplace_back(name, rest.substr(equals + 1));
  return {};
}

/// Relative to the file.
std::string take_directory(std::string_view rest, std::string_view file,
                           ProgramScenario& scenario) {
  if (!scenario.directory.empty()) return "there is a line 'directory' already";
  if (rest.empty()) return "'directory' wants a path";
  std::error_code unknown;
  const auto path = std::filesystem::absolute(file, unknown).parent_path() / rest;
  scenario.directory = path.lexically_normal().string();
  return {};
}

/// Relative to the file.
std::string take_input(std::string_view rest, std::string_view file, ProgramScenario& scenario) {
  if (!scenario.input.empty()) return "there is a line 'stdin' already";
  if (rest.empty()) return "'stdin' wants a file";
  std::error_code unknown;
  const auto path = std::filesystem::absolute(file, unknown).parent_path() / rest;
  if (!std::filesystem::is_regular_file(path, unknown))
    return "'" + std::string(rest) + "' is no file that programs could read as their stdin";
  scenario.input = path.lexically_normal().string();
  return {};
}

/// Of the program `last`; null: there is none yet.
std::string take_name(std::string_view rest, Placed* last) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (last == nullptr)
    return "'name' belongs to a program: put it below a line 'on' or 'background'";
  if (!last->name.empty()) return "the program has a name already, '" + last->name + "'";
  const bool good = !rest.empty() && rest.size() <= kNameMax && is_plain(rest.front()) &&
                    std::ranges::all_of(rest, [&](char c) {
                      return is_plain(c) || c == '.' || c == '-' || c == '_';
                    });
  if (!good)
    return "a program's name has letters, digits, '.', '-' and '_', at most " +
           std::to_string(kNameMax) + " of them, with a letter or a digit first";
  last->name = rest;
  return {};
}

/// Where it is in the file, so that who finds a mistake in the plan knows its line.
void take_plan(std::string_view line, std::size_t number, std::string& plan) {
  const auto lines = static_cast<std::size_t>(std::count(plan.begin(), plan.end(), '\n'));
  plan.append(number - 1 - lines, '\n').append(line).append("\n");
}

std::string take_time(const std::string& what, std::string_view line, ProgramScenario& scenario) {
  const bool taken = what == "limit" ? take_limit(line, scenario) : take_patience(line, scenario);
  return taken ? "" : "a " + what + " is a time such as 10s, not '" + std::string(line) + "'";
}

/// A host and what is there.
std::string take_placed(const std::string& what, std::string_view line, const std::string& where,
                        ProgramScenario& scenario) {
  const std::string host = take_word(line);
  if (line.empty()) return "'" + what + "' wants a host and more";
  if (what == "host") {
    PlacedHost& placed = scenario.hosts.emplace_back(PlacedHost{host, {}, where});
    while (!line.empty()) {
      for (const std::string& each : split(take_word(line), ',')) placed.addresses.push_back(each);
    }
  } else {
    auto& programs = what == "on" ? scenario.programs : scenario.background;
    programs.push_back({host, std::string(line), where});
  }
  return {};
}

/// A line of the file, and where it is there.
struct Line {
  std::string_view text;
  std::size_t number = 0;
  std::string_view file;

  [[nodiscard]] std::string where() const {
    return std::string(file) + ":" + std::to_string(number);
  }
};

/// `last`: the list that the program of the line before is in; null: there was none.
std::string take_line(const Line& whole, ProgramScenario& scenario, std::vector<Placed>*& last) {
  std::string_view line = whole.text;
  const std::string what = take_word(line);
  if (what == "menu" && (line == "standard" || line.starts_with("standard ")))
    return take_standard_menu(trimmed(line.substr(std::string_view("standard").size())), scenario);
  if (what == "fault" || what == "menu") {
    take_plan(line, whole.number, what == "fault" ? scenario.faults : scenario.menu);
    return {};
  }
  if (what == "expect") return take_expectation(line, whole.where(), scenario);
  if (what == "verify") return take_verification(line, whole.where(), scenario);
  if (what == "limit" || what == "patience") return take_time(what, line, scenario);
  if (what == "env") return take_variable(line, scenario);
  if (what == "directory") return take_directory(line, whole.file, scenario);
  if (what == "memory") {
    scenario.memory = line;
    return verbs::soft::memory_profile_of(line) ? "" : no_such_memory(line);
  }
  if (what == "strict") {
    scenario.strict = true;
    return line.empty() ? "" : "'strict' stands alone";
  }
  if (what == "stdin") return take_input(line, whole.file, scenario);
  if (what == "name") return take_name(line, last == nullptr ? nullptr : &last->back());
  if (what == "on") last = &scenario.programs;
  if (what == "background") last = &scenario.background;
  if (what == "host" || what == "on" || what == "background")
    return take_placed(what, line, whole.where(), scenario);
  return "'" + what +
         "' is nothing a line begins with: say host, on, background, fault, menu, limit, "
         "patience, memory, strict, env, directory, stdin, name, expect or verify";
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
  scenario.file = name;
  std::size_t number = 0;
  std::vector<Placed>* last = nullptr;
  for (const std::string& whole : split(text, '\n')) {
    ++number;
    const std::string_view line = without_comment(trimmed(whole));
    if (line.empty()) continue;
    const Line here{line, number, name};
    if (const std::string problem = take_line(here, scenario, last); !problem.empty())
      return verbs::WhyNot{here.where() + ": " + problem + "."};
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
