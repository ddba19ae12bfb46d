#include "tools/scenario_file.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "base/number.h"
#include "sim/machines/common_directory.h"
#include "sim/mistakes.h"
#include "tools/host_lines.h"
#include "tools/memory_option.h"
#include "tools/standard_menu.h"
#include "tools/text_file.h"
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

/// Without its comment: that begins with the line or behind a blank, and not in the quotes of a
/// command or a reason.
/// `client#3` is a name of plans.
std::string_view without_comment(std::string_view line) {
  const bool has_quotes = line.starts_with("on ") || line.starts_with("background ") ||
                          line.starts_with("verify ") || line.starts_with("allow ");
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    const bool begins = i == 0 || kBlanks.find(line[i - 1]) != std::string_view::npos;
    if (c == '#' && begins && quote == 0) return trimmed(line.substr(0, i));
    if (has_quotes && (c == '\'' || c == '"') && (quote == 0 || quote == c))
      quote = quote == 0 ? c : '\0';
  }
  return line;
}

std::optional<std::vector<int>> numbers_in(std::string_view text) {
  std::vector<int> numbers;
  while (!text.empty()) {
    const std::string word = take_word(text);
    const auto number = whole_number<std::uint8_t>(word);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  if (numbers.empty()) return std::nullopt;
  return numbers;
}

/// Why not; empty: it is one.
std::string take_expectation(std::string_view rest, const std::string& where,
                             ProgramScenario& scenario) {
  Expectation expectation{.program = take_word(rest), .where = where};
  if (expectation.program.find('/') == std::string::npos)
    return "'" + expectation.program + "' names no program. Write HOST/PROGRAM, as in client/rping";
  std::string word = take_word(rest);
  if (word == "status") {
    const auto numbers = numbers_in(rest);
    if (!numbers)
      return "'" + std::string(rest) + "' is no list of exit statuses. Write numbers from 0 to 255";
    expectation.statuses = *numbers;
  } else if (word == "any" && (rest == "status" || rest == "end")) {
    expectation.kind = rest == "end" ? Expectation::Kind::kAnyEnd : Expectation::Kind::kAnyStatus;
  } else {
    const bool none = word == "no";
    if (none) word = take_word(rest);
    if (word != "output" || rest.empty())
      return "'expect' is incomplete. Write 'status N...', 'any status', 'any end', 'output TEXT' "
             "or "
             "'no output TEXT' after the program";
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
    return "only 'except' may follow. Write 'menu standard' or 'menu standard except KIND, KIND'";
  for (std::string word; !rest.empty();) {
    word = take_word(rest);
    for (const std::string& kind : split(word, ',')) {
      if (kind.empty()) continue;
      if (!is_standard_kind(kind))
        return "the standard menu has no kind of fault '" + kind + "'. Kinds: " + standard_kinds();
      menu.except.push_back(kind);
    }
  }
  if (scenario.standard) return "the file has two lines 'menu standard'. Remove one";
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
  if (words->empty()) return "'verify' lacks its command";
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
  if (!good) return "'" + std::string(rest) + "' sets no variable. Write NAME=VALUE";
  scenario.environment.emplace_back(name, rest.substr(equals + 1));
  return {};
}

std::string no_such_checker(std::string_view name) {
  return "no device has a checker '" + std::string(name) +
         "'. Checkers: " + sim::ownership_checkers();
}

/// `allow source "the peer checks a sum"`.
std::string take_allowance(std::string_view rest, ProgramScenario& scenario) {
  const std::string checker = take_word(rest);
  if (!sim::is_ownership_checker(checker)) return no_such_checker(checker);
  const bool quoted = rest.size() > 2 && rest.front() == '"' && rest.back() == '"';
  if (!quoted)
    return "'allow " + checker + "' lacks its reason in quotes. Write allow " + checker +
           " \"the peer checks a sum\"";
  scenario.allowed.push_back({checker, std::string(rest.substr(1, rest.size() - 2))});
  return {};
}

/// `deny dry`.
std::string take_denial(std::string_view rest, ProgramScenario& scenario) {
  if (!sim::is_ownership_checker(rest)) return no_such_checker(rest);
  scenario.denied.emplace_back(rest);
  return {};
}

/// Relative to the file.
std::string take_directory(std::string_view rest, std::string_view file,
                           ProgramScenario& scenario) {
  if (!scenario.directory.empty()) return "the file has two lines 'directory'. Remove one";
  if (rest.empty()) return "'directory' lacks its path. Write 'directory DIR'";
  std::error_code unknown;
  const auto path = std::filesystem::absolute(file, unknown).parent_path() / rest;
  scenario.directory = path.lexically_normal().string();
  scenario.common.emplace_back(scenario.directory, scenario.directory);
  return {};
}

/// Relative to the file.
std::string take_input(std::string_view rest, std::string_view file, ProgramScenario& scenario) {
  if (!scenario.input.empty()) return "the file has two lines 'stdin'. Remove one";
  if (rest.empty()) return "'stdin' lacks its file";
  std::error_code unknown;
  const auto path = std::filesystem::absolute(file, unknown).parent_path() / rest;
  if (!std::filesystem::is_regular_file(path, unknown))
    return "'" + std::string(rest) + "' is no file that programs could read as their stdin";
  scenario.input = path.lexically_normal().string();
  return {};
}

/// `programs`: the list whose last program gets the name; null: no program came before.
std::string take_name(std::string_view rest, std::vector<Placed>* programs) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  if (programs == nullptr)
    return "'name' belongs to a program: put it below a line 'on' or 'background'";
  Placed& last = programs->back();
  if (!last.name.empty()) return "the program has a name already, '" + last.name + "'";
  const bool good = !rest.empty() && rest.size() <= kNameMax && is_plain(rest.front()) &&
                    std::ranges::all_of(rest, [&](char c) {
                      return is_plain(c) || c == '.' || c == '-' || c == '_';
                    });
  if (!good)
    return "a program's name has letters, digits, '.', '-' and '_', at most " +
           std::to_string(kNameMax) + " of them, with a letter or a digit first";
  last.name = rest;
  return {};
}

/// Adds a line at its place in the file, so that an error in the plan has the file's line number.
void take_plan(std::string_view line, std::size_t number, std::string& plan) {
  const auto lines = static_cast<std::size_t>(std::count(plan.begin(), plan.end(), '\n'));
  plan.append(number - 1 - lines, '\n').append(line).append("\n");
}

std::string take_time(const std::string& what, std::string_view line, ProgramScenario& scenario) {
  const bool taken = what == "limit" ? take_limit(line, scenario) : take_patience(line, scenario);
  return taken ? ""
               : "'" + what + " " + std::string(line) + "' is no time. Write a time such as '" +
                     what + " 10s'";
}

/// A host and what is there.
std::string take_placed(const std::string& what, std::string_view line, const std::string& where,
                        ProgramScenario& scenario) {
  const std::string host = take_word(line);
  if (line.empty())
    return "'" + what + "' is incomplete. Write a host's name and " +
           (what == "host" ? "its addresses" : "a command line");
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
  std::vector<Placed>*& last;  ///< the list that the last program before it is in; null: none

  [[nodiscard]] std::string where() const {
    return std::string(file) + ":" + std::to_string(number);
  }
};

/// A plan's line, or all faults of the standard menu.
std::string take_menu(const std::string& what, std::string_view rest, const Line& line,
                      ProgramScenario& scenario) {
  constexpr std::string_view kStandard = "standard";
  if (what == "menu" && (rest == kStandard || rest.starts_with("standard ")))
    return take_standard_menu(trimmed(rest.substr(kStandard.size())), scenario);
  take_plan(rest, line.number, what == "fault" ? scenario.faults : scenario.menu);
  return {};
}

std::string take_memory(std::string_view rest, ProgramScenario& scenario) {
  scenario.memory = rest;
  return verbs::soft::memory_profile_of(rest) ? "" : no_such_memory(rest);
}

/// Takes what comes behind a statement's word; returns why it is refused, or nothing.
using Take = std::string (*)(const std::string& word, std::string_view rest, const Line& line,
                             ProgramScenario& scenario);

std::string take_placed_at(const std::string& word, std::string_view rest, const Line& line,
                           ProgramScenario& scenario) {
  if (word != "host") line.last = word == "on" ? &scenario.programs : &scenario.background;
  return take_placed(word, rest, line.where(), scenario);
}

std::string take_time_of(const std::string& word, std::string_view rest, const Line&,
                         ProgramScenario& scenario) {
  return take_time(word, rest, scenario);
}

std::string take_host_line_at(const std::string& word, std::string_view rest, const Line& line,
                              ProgramScenario& scenario) {
  return take_host_line(word, rest, line.where(), scenario);
}

struct Statement {
  std::string_view word;
  Take take;
};

constexpr Statement kStatements[]{
    {"host", take_placed_at},
    {"on", take_placed_at},
    {"background", take_placed_at},
    {"fault", take_menu},
    {"menu", take_menu},
    {"limit", take_time_of},
    {"patience", take_time_of},
    {"memory", [](const std::string&, std::string_view rest, const Line&,
                  ProgramScenario& scenario) { return take_memory(rest, scenario); }},
    {"strict",
     [](const std::string&, std::string_view rest, const Line&, ProgramScenario& scenario) {
       scenario.strict = true;
       return std::string(rest.empty() ? "" : "'strict' takes no argument");
     }},
    {"allow", [](const std::string&, std::string_view rest, const Line&,
                 ProgramScenario& scenario) { return take_allowance(rest, scenario); }},
    {"deny", [](const std::string&, std::string_view rest, const Line&,
                ProgramScenario& scenario) { return take_denial(rest, scenario); }},
    {"env", [](const std::string&, std::string_view rest, const Line&,
               ProgramScenario& scenario) { return take_variable(rest, scenario); }},
    {"directory",
     [](const std::string&, std::string_view rest, const Line& line, ProgramScenario& scenario) {
       return take_directory(rest, line.file, scenario);
     }},
    {"share", [](const std::string& word, std::string_view rest, const Line&,
                 ProgramScenario& scenario) { return take_common(word, rest, scenario); }},
    {"keep", [](const std::string& word, std::string_view rest, const Line&,
                ProgramScenario& scenario) { return take_common(word, rest, scenario); }},
    {"processors", take_host_line_at},
    {"ram", take_host_line_at},
    {"kernel", take_host_line_at},
    {"hugepages", [](const std::string&, std::string_view rest, const Line&,
                     ProgramScenario& scenario) { return take_huge_pages(rest, scenario); }},
    {"stdin", [](const std::string&, std::string_view rest, const Line& line,
                 ProgramScenario& scenario) { return take_input(rest, line.file, scenario); }},
    {"name", [](const std::string&, std::string_view rest, const Line& line,
                ProgramScenario&) { return take_name(rest, line.last); }},
    {"verify",
     [](const std::string&, std::string_view rest, const Line& line, ProgramScenario& scenario) {
       return take_verification(rest, line.where(), scenario);
     }},
    {"expect",
     [](const std::string&, std::string_view rest, const Line& line, ProgramScenario& scenario) {
       return take_expectation(rest, line.where(), scenario);
     }},
};

std::string take_line(const Line& whole, ProgramScenario& scenario) {
  std::string_view rest = whole.text;
  const std::string word = take_word(rest);
  const auto* const found = std::ranges::find(kStatements, word, &Statement::word);
  if (found != std::end(kStatements)) return found->take(word, rest, whole, scenario);
  std::string known;
  for (const std::string_view each : statement_words())
    known += (known.empty() ? "" : ", ") + std::string(each);
  return "there is no statement '" + word + "'. Statements: " + known + "; " +
         "`anyrdma help scenario` explains them";
}

}  // namespace

std::vector<std::string_view> statement_words() {
  std::vector<std::string_view> words;
  for (const Statement& each : kStatements) words.push_back(each.word);
  return words;
}

bool take_limit(std::string_view word, ProgramScenario& scenario) {
  return fault::parse_word("limit", word, scenario.limit).empty() &&
         scenario.limit > verbs::Duration::zero();
}

bool take_patience(std::string_view word, ProgramScenario& scenario) {
  return fault::parse_word("patience", word, scenario.patience).empty() &&
         scenario.patience > verbs::Duration::zero();
}

std::string take_common(const std::string& what, std::string_view rest, ProgramScenario& scenario) {
  std::string problem;
  const bool keeps = what == "keep";
  const auto place = sim::common_directory(rest, keeps, problem);
  if (place) scenario.common.emplace_back(keeps ? *place : "", *place);
  return problem;
}

std::string take_huge_pages(std::string_view rest, ProgramScenario& scenario) {
  constexpr unsigned kMost = 1 << 16;
  const auto count = whole_number<unsigned>(rest);
  if (!count || *count == 0 || *count > kMost)
    return "'hugepages' needs a number of pages of 2 MiB, from 1 to " + std::to_string(kMost);
  scenario.huge_pages = *count;
  return {};
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
    const Line here{line, number, name, last};
    if (const std::string problem = take_line(here, scenario); !problem.empty())
      return verbs::WhyNot{here.where() + ": " + problem + "."};
  }
  if (scenario.programs.empty())
    return verbs::WhyNot{std::string(name) +
                         ": the file starts no program. Add a line 'on HOST COMMAND'."};
  return scenario;
}

verbs::OrWhyNot<ProgramScenario> read_scenario(const std::string& path) {
  const auto text = read_text_file("the scenario file", path);
  if (!text) return text.error();
  return parse_scenario(path, *text);
}

}  // namespace anyrdma::tools
