#include "tests/conformance/drift.h"

#include <algorithm>
#include <cctype>
#include <map>

namespace anyrdma::conformance {
namespace {

constexpr int kFacts = 60;  // of the fact sheet's section 12

/// The first thing that a backend lacks for a scenario; null: nothing.
const Ability* lacking(const Scenario& scenario, const BackendKind& kind) {
  for (const Ability& ability : scenario.needs) {
    if (!kind.abilities.contains(ability)) return &ability;
  }
  return nullptr;
}

enum class Cell : std::uint8_t { kSame, kDiffers, kNotRun, kUnable };

Cell cell_of(const Scenario& scenario, const BackendKind& kind, const Deviations& deviations) {
  if (lacking(scenario, kind) != nullptr) return Cell::kUnable;
  const Difference* const difference = deviations.find(scenario.full_name(), kind.name);
  if (difference == nullptr) return Cell::kSame;
  return difference->not_run ? Cell::kNotRun : Cell::kDiffers;
}

/// As a heading's anchor has it.
std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  });
  return text;
}

std::string text_of(const Scenario& scenario, const BackendKind& kind,
                    const Deviations& deviations) {
  const auto reason = [&] {
    const Difference* const difference = deviations.find(scenario.full_name(), kind.name);
    const std::string& name = deviations.all[difference->deviation].name;
    return "[" + name + "](#" + lower(name) + ")";
  };
  switch (cell_of(scenario, kind, deviations)) {
    case Cell::kSame:
      return "same";
    case Cell::kDiffers:
      return reason();
    case Cell::kNotRun:
      return "n/a " + reason();
    case Cell::kUnable:
      return "n/a: " + std::string(short_name(*lacking(scenario, kind)));
  }
  return {};
}

std::string matrix(const Goldens& goldens, const Deviations& deviations) {
  std::string text = "| scenario |";
  std::string rule = "|---|";
  for (const BackendKind& kind : backend_kinds()) {
    text += " " + std::string(kind.name) + " |";
    rule += "---|";
  }
  text += " record of |\n" + rule + "---|\n";
  for (const Scenario& scenario : scenarios()) {
    text += "| " + scenario.full_name() + " |";
    for (const BackendKind& kind : backend_kinds()) {
      text += " " + text_of(scenario, kind, deviations) + " |";
    }
    const auto golden = goldens.find(scenario.full_name());
    text += " " + (golden == goldens.end() ? "nobody" : golden->second.origin) + " |\n";
  }
  return text;
}

std::string summary(const Deviations& deviations) {
  std::string text = "| | same | differs | n/a |\n|---|---|---|---|\n";
  for (const BackendKind& kind : backend_kinds()) {
    std::map<Cell, int> counts;
    for (const Scenario& scenario : scenarios()) ++counts[cell_of(scenario, kind, deviations)];
    text += "| " + std::string(kind.name) + " | " + std::to_string(counts[Cell::kSame]) + " | " +
            std::to_string(counts[Cell::kDiffers]) + " | " +
            std::to_string(counts[Cell::kNotRun] + counts[Cell::kUnable]) + " |\n";
  }
  return text;
}

std::string reasons(const Deviations& deviations) {
  std::string text;
  for (const Deviation& each : deviations.all) {
    text += "### " + each.name + "\n\n" + each.reason + ".\n\nVisible in: " + each.link + "\n\n";
  }
  return text;
}

std::string abilities() {
  std::string text = "| n/a for want of | a way to have |\n|---|---|\n";
  for (int i = 0; i <= static_cast<int>(kLastAbility); ++i) {
    const auto ability = static_cast<Ability>(i);
    text +=
        "| " + std::string(short_name(ability)) + " | " + std::string(to_string(ability)) + " |\n";
  }
  return text;
}

}  // namespace

std::string drift_page(const Goldens& goldens, const Deviations& deviations) {
  return "# Where the transports differ from Linux\n\n"
         "Written by `bazel run //tests/conformance:drift_test -- --write`; the test fails when it "
         "is out of\n"
         "date. Each of the " +
         std::to_string(scenarios().size()) +
         " scenarios below is the same application code on every transport. What it\n"
         "shows, each call's result and each event with its fields, is held against\n"
         "[its record](../tests/conformance/records): a kernel's (rxe: Soft-RoCE of Linux 6.1, "
         "through\n"
         "librdmacm) wherever one can show it, else the simulator's. What differs fails the tests, "
         "unless\n"
         "[the table of deviations](../tests/conformance/deviations.json) says how and why. On "
         "the wire\n"
         "the server is the kernel and the client our own stack, RoCEv2 over UDP sockets.\n\n" +
         summary(deviations) + "\n" + matrix(goldens, deviations) + "\n" + abilities() +
         "\n## Deviations\n\n" + reasons(deviations);
}

Lines misfits(const Goldens& goldens, const Deviations& deviations) {
  Lines lines;
  std::map<std::string, const Scenario*> known;
  for (const Scenario& scenario : scenarios()) {
    known[scenario.full_name()] = &scenario;
    if (!goldens.contains(scenario.full_name()))
      lines.push_back(scenario.full_name() + " has no record");
    for (const int fact : scenario.facts) {
      if (fact < 1 || fact > kFacts) {
        lines.push_back(scenario.full_name() +
                        " shows a fact that is none: " + std::to_string(fact));
      }
    }
  }
  for (const auto& [name, golden] : goldens) {
    if (!known.contains(name)) lines.push_back("no such scenario, but a record: " + name);
  }
  for (const auto& [where, difference] : deviations.differences) {
    const auto& [name, backend] = where;
    if (lacking(*known.at(name), *find_backend_kind(backend)) != nullptr) {
      lines.push_back(name + " is listed, but never performed on " + backend);
    }
  }
  return lines;
}

}  // namespace anyrdma::conformance
