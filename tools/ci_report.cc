#include "tools/ci_report.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/printable.h"
#include "tools/start.h"

namespace anyrdma::tools {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

/// The length of the character at the beginning of a text that is not empty, if it is one that XML
/// 1.0 allows (its production 2, Char); 0: it is not, or no UTF-8.
std::size_t length_of_character(std::string_view text) {
  const std::size_t length = character_at(text);
  if (length == 0) return 0;
  const char32_t code = code_point_of(text.substr(0, length));
  const bool allowed =
      code >= 0x20 ? code != 0xfffe && code != 0xffff : code == '\t' || code == '\n';
  return allowed ? length : 0;
}

/// As content of an element, or of an attribute in double quotes.
std::string xml(std::string_view text) {
  std::string safe;
  while (!text.empty()) {
    const std::size_t length = length_of_character(text);
    switch (text[0]) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += length == 0 ? kReplacement : text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return safe;
}

std::string seconds(double value) {
  char text[32];
  (void)std::snprintf(text, sizeof text, "%.3f", value);
  return text;
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

std::string counts(std::size_t tests, std::size_t failures, double time) {
  return " tests=\"" + std::to_string(tests) + "\" failures=\"" + std::to_string(failures) +
         "\" errors=\"0\" skipped=\"0\" time=\"" + seconds(time) + "\"";
}

std::size_t cases_of(const ScenarioReport& report) {
  return std::max<std::size_t>(report.failures.size(), 1);
}

std::string test_case(const ScenarioReport& report, const std::string& name) {
  return "    <testcase classname=\"" + xml(report.scenario) + "\" name=\"" + xml(name) +
         "\" time=\"" + seconds(report.seconds / static_cast<double>(cases_of(report))) + "\"";
}

std::string details_of(const ReportedFailure& failure) {
  std::string text = failure.problem;
  if (!text.empty() && text.back() != '\n') text += '\n';
  for (const std::string& each : failure.faults) text += "fault: " + each + "\n";
  if (!failure.again.empty()) text += "again: " + failure.again + "\n";
  if (!failure.debug.empty()) text += "debug: " + failure.debug + "\n";
  if (!failure.recording.empty()) text += "recording: " + failure.recording + "\n";
  return text;
}

/// In a block whose fence does not occur in the text.
std::string block(const std::string& text) {
  std::string fence = "```";
  while (text.find(fence) != std::string::npos) fence += '`';
  return fence + "text\n" + text + (text.ends_with('\n') ? "" : "\n") + fence + "\n";
}

bool append_to(const std::string& path, const std::string& text, std::ios::openmode mode) {
  errno = 0;
  std::ofstream file(path, std::ios::binary | mode);
  file << text;
  return static_cast<bool>(file.flush());
}

std::string summary_file() {
  const char* const path = std::getenv("GITHUB_STEP_SUMMARY");
  return path == nullptr ? "" : path;
}

}  // namespace

std::string junit_of(std::span<const ScenarioReport> reports) {
  std::size_t tests = 0;
  std::size_t failures = 0;
  double time = 0;
  std::string suites;
  for (const ScenarioReport& each : reports) {
    tests += cases_of(each);
    failures += each.failures.size();
    time += each.seconds;
    suites += "  <testsuite name=\"" + xml(each.command + " " + each.scenario) + "\"" +
              counts(cases_of(each), each.failures.size(), each.seconds) + ">\n";
    for (const ReportedFailure& failure : each.failures) {
      suites += test_case(each, failure.name) + ">\n      <failure message=\"" +
                xml(first_line(failure.problem)) + "\" type=\"failure\">" +
                xml(details_of(failure)) + "</failure>\n    </testcase>\n";
    }
    if (each.failures.empty()) suites += test_case(each, each.sentence) + "/>\n";
    suites += "  </testsuite>\n";
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"anyrdma\"" +
         counts(tests, failures, time) + ">\n" + suites + "</testsuites>\n";
}

std::string summary_of(const ScenarioReport& report) {
  const bool passed = report.failures.empty();
  std::string text = "## " + std::string(passed ? "✅" : "❌") + " " + report.command + " `" +
                     report.scenario + "`: " + (passed ? "passed" : "failed") + "\n\n" +
                     report.sentence + ", " + seconds(report.seconds) + " s\n";
  for (const ReportedFailure& failure : report.failures) {
    text += "\n### Failure: " + first_line(failure.name) + "\n\n" + block(failure.problem);
    if (!failure.faults.empty()) {
      text += "\nFaults:\n\n";
      for (const std::string& each : failure.faults) text += "- `" + each + "`\n";
    }
    if (!failure.again.empty()) text += "\nRepeat it:\n\n" + block(failure.again);
    if (!failure.debug.empty()) text += "\nDebug it:\n\n" + block(failure.debug);
    if (!failure.recording.empty()) {
      text += "\nThe recording is `" + failure.recording + "`. Its page:\n\n" +
              block("anyrdma trace " + failure.recording + " --html page.html");
    }
  }
  return text + "\n";
}

CiReports::CiReports(std::string junit, std::string summary)
    : junit_(std::move(junit)), summary_(std::move(summary)) {
  // Not after hours of searching.
  if (junit_.empty() || append_to(junit_, "", std::ios::trunc)) return;
  say("--junit '" + junit_ + "' cannot be written: " + std::strerror(errno) + ".");
  usable_ = false;
}

CiReports::CiReports(std::string junit) : CiReports(std::move(junit), summary_file()) {}

bool CiReports::add(ScenarioReport report) {
  bool written = true;
  if (!summary_.empty() && !append_to(summary_, summary_of(report), std::ios::app)) {
    say("the summary '" + summary_ +
        "', which GITHUB_STEP_SUMMARY names, cannot be written: " + std::strerror(errno) + ".");
  }
  reports_.push_back(std::move(report));
  if (!junit_.empty() && !append_to(junit_, junit_of(reports_), std::ios::trunc)) {
    say("--junit '" + junit_ + "' cannot be written: " + std::strerror(errno) + ".");
    written = false;
  }
  return written;
}

}  // namespace anyrdma::tools
