#include "tests/conformance/iwarp.h"

#include <algorithm>
#include <map>
#include <set>

namespace anyrdma::conformance {
namespace {

/// Without datagrams, groups, unreliable and extended connections, and without what connects queue
/// pairs by hand or asks about the other things that only other devices have.
const std::set<std::string_view>& groups() {
  static const std::set<std::string_view> kGroups = {
      "connect", "death",      "depths",    "disconnect", "ece",          "lifetime",
      "migrate", "misuse",     "options",   "ports",      "private_data", "qp_attr",
      "qp_less", "queue_pair", "rc_errors", "rc_flush",   "rc_memory",    "rc_messages",
      "reject",  "resolution", "sync",      "wrong_state"};
  return kGroups;
}

enum class Verdict : std::uint8_t { kSame, kOtherwise, kUnsteady };

Verdict verdict_of(const std::string& name, const Goldens& goldens, const Goldens& iwarp) {
  const auto shown = iwarp.find(name);
  const auto roce = goldens.find(name);
  if (shown == iwarp.end() || roce == goldens.end()) return Verdict::kUnsteady;
  if (shown->second.lines == Lines{std::string(kUnsteady)}) return Verdict::kUnsteady;
  return shown->second.lines == roce->second.lines ? Verdict::kSame : Verdict::kOtherwise;
}

/// As a cell of a table.
std::string cell_of(const std::string& line) {
  std::string cell = "`" + line + "`";
  for (std::size_t at = 0; (at = cell.find('|', at)) != cell.npos; at += 2) cell.insert(at, "\\");
  return cell;
}

/// What is missing first, and what is there instead: of an event, or of steps that a record takes
/// together, no call that went well tells anything.
std::string cells_of(const Lines& differing) {
  const auto missing =
      std::ranges::find_if(differing, [](const std::string& line) { return line.front() == '-'; });
  const bool of_a_call = missing != differing.end() && missing->find('(') != missing->npos;
  const auto tells = [of_a_call](const std::string& line) {
    return line.front() == '+' && (of_a_call || !line.ends_with(": ok"));
  };
  const auto instead = std::ranges::find_if(differing, tells);
  const auto cell = [&differing](Lines::const_iterator line) {
    return line == differing.end() ? std::string() : cell_of(line->substr(1));
  };
  return " " + cell(missing) + " | " + cell(instead) + " |";
}

std::string summary(const Goldens& goldens, const Goldens& iwarp) {
  std::map<std::string_view, std::map<Verdict, int>> counts;
  std::map<Verdict, int> all;
  for (const Scenario& scenario : scenarios()) {
    if (!iwarp_can_have(scenario)) continue;
    const Verdict verdict = verdict_of(scenario.full_name(), goldens, iwarp);
    ++counts[scenario.group][verdict];
    ++all[verdict];
  }
  const auto row = [](std::string_view group, std::map<Verdict, int> count) {
    std::string text = "| " + std::string(group) + " |";
    for (const Verdict each : {Verdict::kSame, Verdict::kOtherwise, Verdict::kUnsteady})
      text += " " + std::to_string(count[each]) + " |";
    return text + "\n";
  };
  std::string text = "| group | as on RoCE | otherwise | unsteady |\n|---|---|---|---|\n";
  for (const auto& [group, count] : counts) text += row(group, count);
  return text + row("all", all);
}

/// How what differs begins to differ.
std::string differences(const Goldens& goldens, const Goldens& iwarp) {
  std::string text = "| scenario | RoCE | iWARP |\n|---|---|---|\n";
  for (const Scenario& scenario : scenarios()) {
    const std::string name = scenario.full_name();
    if (!iwarp_can_have(scenario)) continue;
    const Verdict verdict = verdict_of(name, goldens, iwarp);
    if (verdict == Verdict::kSame) continue;
    if (verdict == Verdict::kUnsteady) {
      text += "| " + name + " | | " + std::string(kUnsteady) + " |\n";
      continue;
    }
    const Lines differing = difference(goldens.at(name).lines, iwarp.at(name).lines);
    text += "| " + name + " |" + cells_of(differing) + "\n";
  }
  return text;
}

}  // namespace

bool iwarp_can_have(const Scenario& scenario) {
  return groups().contains(scenario.group) &&
         std::ranges::includes(find_backend_kind(kIwarp)->abilities, scenario.needs);
}

std::string iwarp_tables(const Goldens& goldens, const Goldens& iwarp) {
  return summary(goldens, iwarp) + "\n" + differences(goldens, iwarp);
}

Lines iwarp_misfits(const Goldens& iwarp) {
  Lines lines;
  std::set<std::string> known;
  for (const Scenario& scenario : scenarios()) {
    if (!iwarp_can_have(scenario)) continue;
    known.insert(scenario.full_name());
    if (!iwarp.contains(scenario.full_name()))
      lines.push_back(scenario.full_name() + " has no record of iWARP");
  }
  for (const auto& [name, golden] : iwarp) {
    if (!known.contains(name)) lines.push_back("not for iWARP, but a record of it: " + name);
  }
  return lines;
}

}  // namespace anyrdma::conformance
