#include "tools/ci_report.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace anyrdma::tools {
namespace {

using testing::HasSubstr;
using testing::Not;

ScenarioReport passed() {
  return {.command = "anyrdma explore", .scenario = "a.txt", .sentence = "34 runs", .seconds = 2};
}

ScenarioReport failed() {
  ScenarioReport report = passed();
  report.scenario = "b.txt";
  report.failures = {{.name = "seed 1; slack 10us",
                      .problem = "client/b ended with status 1\n  main+0x1\n",
                      .faults = {"at 1ms: cut a<->b"},
                      .again = "anyrdma replay b.txt 'seed 1; slack 10us'",
                      .debug = "anyrdma replay b.txt 'seed 1; slack 10us' --gdb --goto failure",
                      .recording = "b.recording"}};
  return report;
}

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(JUnit, HasACaseForEachFailureAndOneForAScenarioWithout) {
  const std::vector<ScenarioReport> reports{passed(), failed()};

  const std::string text = junit_of(reports);

  EXPECT_THAT(text, HasSubstr("<testsuites name=\"anyrdma\" tests=\"2\" failures=\"1\""));
  EXPECT_THAT(text, HasSubstr("<testcase classname=\"a.txt\" name=\"34 runs\" time=\"2.000\"/>"));
  EXPECT_THAT(text, HasSubstr("<failure message=\"client/b ended with status 1\""));
  EXPECT_THAT(text, HasSubstr("again: anyrdma replay b.txt"));
}

TEST(JUnit, EscapesWhatXmlDoesNotAllow) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"<&\">", "&lt;&amp;&quot;&gt;"},
      {std::string("a\0b", 3),
       "a\xef\xbf\xbd"
       "b"},
      {"\x1b[0m", "\xef\xbf\xbd[0m"},
      {"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80", "caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80"},
      {"\xc3", "\xef\xbf\xbd"},                                  // cut off
      {"\xc0\xaf", "\xef\xbf\xbd\xef\xbf\xbd"},                  // too long for its character
      {"\xed\xa0\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"},  // a surrogate
      {"\xef\xbf\xbf", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd"}};
  for (const auto& [given, written] : cases) {
    ScenarioReport report = failed();
    report.failures[0].problem = given;

    EXPECT_THAT(junit_of(std::vector{report}), HasSubstr("failure\">" + written + "\n"));
  }
}

TEST(Summary, HasVerdictFaultsStacksAndTheCommandsThatRepeatIt) {
  const std::string text = summary_of(failed());

  EXPECT_THAT(text, HasSubstr("anyrdma explore `b.txt`: failed"));
  EXPECT_THAT(text, HasSubstr("```text\nclient/b ended with status 1\n  main+0x1\n```"));
  EXPECT_THAT(text, HasSubstr("- `at 1ms: cut a<->b`"));
  EXPECT_THAT(text, HasSubstr("```text\nanyrdma replay b.txt 'seed 1; slack 10us'\n```"));
  EXPECT_THAT(text, HasSubstr("anyrdma trace b.recording --html page.html"));
  EXPECT_THAT(summary_of(passed()), HasSubstr("anyrdma explore `a.txt`: passed"));
}

TEST(Summary, KeepsWhatTheTextFences) {
  ScenarioReport report = failed();
  report.failures[0].problem = "it printed ```text\n";

  EXPECT_THAT(summary_of(report), HasSubstr("````text\nit printed ```text\n````"));
}

TEST(CiReports, WritesTheWholeFileAfterEachReportAndAppendsSummaries) {
  const std::string directory = testing::TempDir();
  const std::string junit = directory + "/report.xml";
  const std::string summary = directory + "/summary.md";
  std::ofstream(junit) << "an old file that is much longer than nothing";
  std::ofstream(summary) << "before\n";

  CiReports reports(junit, summary);
  ASSERT_TRUE(reports.usable());
  EXPECT_EQ(content_of(junit), "");
  EXPECT_TRUE(reports.add(passed()));
  EXPECT_TRUE(reports.add(failed()));

  EXPECT_EQ(content_of(junit), junit_of(std::vector{passed(), failed()}));
  EXPECT_EQ(content_of(summary), "before\n" + summary_of(passed()) + summary_of(failed()));
}

TEST(CiReports, SayAtOnceThatAFileCannotBeWritten) {
  EXPECT_FALSE(CiReports("/nowhere/report.xml", "").usable());
  CiReports summary("", "/nowhere/summary.md");
  EXPECT_TRUE(summary.usable());
  EXPECT_TRUE(summary.add(passed()));  // a job does not fail because of its summary
  EXPECT_FALSE(CiReports("", "").wanted());
}

}  // namespace
}  // namespace anyrdma::tools
