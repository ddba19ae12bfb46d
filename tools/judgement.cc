#include "tools/judgement.h"

#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>

#include "base/text.h"

namespace anyrdma::tools {
namespace {

using Kind = Expectation::Kind;

/// How the first line of a report begins, behind the process's number (compiler-rt's
/// sanitizer_common: Report; libsanitizer has the same).
constexpr std::array<std::string_view, 5> kReports{
    "ERROR: AddressSanitizer: ", "ERROR: HWAddressSanitizer: ", "ERROR: LeakSanitizer: ",
    "WARNING: ThreadSanitizer: ", "WARNING: MemorySanitizer: "};
/// Behind a source's line and column (compiler-rt's ubsan_diag.cpp).
constexpr std::string_view kUndefined = ": runtime error: ";
/// What comes then is another one in each run.
constexpr std::array<std::string_view, 3> kEnds{" on address ", " on unknown address ", " (pid="};

/// "client/rping" is about all of that name, "client/rping#2" about the second one.
bool is_about(const Expectation& expectation, std::string_view program, unsigned number) {
  const std::string_view named = expectation.program;
  if (!named.starts_with(program)) return false;
  const std::string_view rest = named.substr(program.size());
  return rest.empty() || rest == "#" + std::to_string(number);
}

std::string said_text(const Expectation& expectation) {
  return expectation.program + " printed '" + expectation.text + "'";
}

/// As a server does: that counts as status 0.
bool serves_to_the_end(const ProgramEnd& end) {
  if (!end.status) return end.background;
  return end.told_to_end && WIFSIGNALED(*end.status) && WTERMSIG(*end.status) == SIGTERM;
}

}  // namespace

std::string end_text(const ProgramEnd& end) {
  if (!end.status) return "did not end";
  return ending_text(*end.status);
}

std::string sanitizer_report(std::string_view line) {
  for (const std::string_view each : kReports) {
    const std::size_t at = line.find(each);
    if (at == std::string_view::npos) continue;
    std::string_view report = line.substr(line.find(' ', at) + 1);
    for (const std::string_view end : kEnds) report = report.substr(0, report.find(end));
    return std::string(report);
  }
  const std::size_t at = line.find(kUndefined);
  const bool has_place = at != std::string_view::npos && at > 0 &&
                         std::isdigit(static_cast<unsigned char>(line[at - 1])) != 0;
  return has_place ? std::string(line) : "";
}

Said Judgement::take(std::string_view program, unsigned number, std::string_view line) {
  Said said;
  bool expected = false;
  for (std::size_t i = 0; i < expectations_.size(); ++i) {
    const Expectation& each = expectations_[i];
    if (each.text.empty() || !is_about(each, program, number)) continue;
    if (line.find(each.text) == std::string_view::npos) continue;
    const bool first = said_.insert(i).second;
    expected |= each.kind == Kind::kOutput;
    if (first && each.kind == Kind::kNoOutput) said.problem = said_text(each);
  }
  if (expected) return said;
  const std::string report = sanitizer_report(line);
  if (report.empty() || !reports_.try_emplace(std::string(program), report + "\n").second)
    return said;
  return {.problem = std::string(program) + ": " + report, .is_report = true};
}

void Judgement::explain_report(std::string_view program, std::string_view stacks) {
  const auto report = reports_.find(program);
  if (report != reports_.end()) report->second += stacks;
}

bool Judgement::may_crash(std::string_view program, unsigned number) const {
  return std::ranges::any_of(expectations_, [&](const Expectation& each) {
    return each.kind == Kind::kAnyEnd && is_about(each, program, number);
  });
}

bool Judgement::ends_as_expected(const ProgramEnd& end) const {
  if (end.ended_by_plan) return true;
  if (!end.status && !end.background) return false;
  const bool served = serves_to_the_end(end);
  const bool exited = served || WIFEXITED(*end.status);
  const int status = served ? 0 : WEXITSTATUS(*end.status);
  bool any = false;
  for (const Expectation& each : expectations_) {
    if (!is_about(each, end.name, end.number)) continue;
    if (each.kind == Kind::kAnyEnd) return true;
    if (each.kind == Kind::kAnyStatus && exited) return true;
    if (each.kind != Kind::kStatus) continue;
    any = true;
    if (exited && std::ranges::find(each.statuses, status) != each.statuses.end()) return true;
  }
  return !any && exited && (status == 0 || end.told_to_end);
}

std::string Judgement::reports() const {
  std::string text;
  for (const auto& [program, report] : reports_) text += program + ": " + report;
  return text;
}

/// "; 0 or 3 was expected"; empty: no status was.
std::string Judgement::statuses_of(const ProgramEnd& end) const {
  std::string text;
  for (const Expectation& each : expectations_) {
    if (each.kind != Kind::kStatus || !is_about(each, end.name, end.number)) continue;
    for (const int status : each.statuses)
      text += (text.empty() ? "; status " : " or ") + std::to_string(status);
  }
  return text.empty() ? text : text + " was expected";
}

std::string Judgement::broken(std::span<const ProgramEnd> ends) const {
  std::string text;
  for (const ProgramEnd& end : ends) {
    if (ends_as_expected(end)) continue;
    if (serves_to_the_end(end)) {
      text += std::string(end.name) + " did not end by itself" + statuses_of(end) + "\n";
    } else if (end.status) {
      text += std::string(end.name) + " " + end_text(end) + "\n" + std::string(end.crash);
    }
  }
  for (std::size_t i = 0; i < expectations_.size(); ++i) {
    const Expectation& each = expectations_[i];
    const bool found = said_.contains(i);
    if (each.kind == Kind::kOutput && !found)
      text += each.program + " did not print '" + each.text + "'\n";
    if (each.kind == Kind::kNoOutput && found) text += said_text(each) + "\n";
  }
  return text;
}

}  // namespace anyrdma::tools
