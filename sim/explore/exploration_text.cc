// What came of an exploration, for people.
#include "base/text.h"
#include "sim/explore/explore.h"

namespace anyrdma::sim {
namespace {

/// As a C++ string literal, and the newline it stands for.
std::string literal(const std::string& line) {
  std::string text = "      \"";
  for (const char c : line) {
    if (c == '"' || c == '\\') text += '\\';
    text += c;
  }
  return text + "\\n\"";
}

std::string order_text(const Trial& trial) {
  Trial rest = trial;
  rest.plan = {};
  const std::string text = rest.to_string("\n") + "\n";
  return text.substr(text.find('\n') + 1);  // without the seed
}

}  // namespace

std::string Failure::to_string() const {
  std::string text = "seed " + std::to_string(trial.seed);
  append(text, ", trace hash 0x%016llx, ", static_cast<unsigned long long>(outcome.trace_hash));
  append(text, "%zu of %zu faults:\n", trial.plan.faults.size(), faults_found);
  text += order_text(trial) + trial.plan.to_string() + outcome.problem;
  return command.empty() ? text : text + "again: " + command + "\n";
}

std::string Failure::to_test(std::string_view scenario) const {
  std::string text = "TEST(Replay, Seed" + std::to_string(trial.seed) + ") {\n";
  text += "  const auto trial = anyrdma::sim::Trial::parse(\n";
  std::string lines = trial.to_string("\n") + "\n";
  for (std::size_t begin = 0; begin < lines.size();) {
    const std::size_t end = lines.find('\n', begin);
    text += literal(lines.substr(begin, end - begin)) + "\n";
    begin = end + 1;
  }
  text += "      ).value();\n\n";
  return text + "  EXPECT_EQ(" + std::string(scenario) + "(trial).problem, \"\");\n}\n";
}

std::vector<std::string> Exploration::never_seen() const {
  std::vector<std::string> never;
  for (const auto& [situation, sighting] : situations) {
    if (sighting.seen == 0) never.push_back(situation);
  }
  return never;
}

std::string Exploration::to_string() const {
  constexpr std::size_t kNamedMax = 4;  // as many as people read
  std::string text = std::to_string(runs) + " runs";
  if (bits != 0) {
    text += ", " + std::to_string(bits) + " bits of coverage, the last new one in run " +
            std::to_string(last_new);
  }
  std::size_t never = 0;
  for (const auto& [fault, times] : fired) {
    if (times == 0 && ++never <= kNamedMax) text += "; never fired: " + fault;
  }
  if (never > kNamedMax) text += "; nor did " + std::to_string(never - kNamedMax) + " more";
  return text;
}

std::string Exploration::other_failures() const {
  std::string text;
  for (const auto& [kind, times] : others) {
    text +=
        std::to_string(times) + " failed in another way: " + kind.substr(0, kind.find('\n')) + "\n";
  }
  return text;
}

std::string Exploration::sightings() const {
  std::string text;
  for (const auto& [situation, sighting] : situations) {
    text += "in " + std::to_string(sighting.seen) + " of " + std::to_string(runs) +
            " runs: " + situation + "\n";
  }
  return text;
}

}  // namespace anyrdma::sim
