// What the tables of the conformance tests refuse, and how records and differences are worded.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/conformance/deviations.h"
#include "tests/conformance/golden.h"

namespace anyrdma::conformance {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string bytes_of(const std::string& text) {
  return bytes_text({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

TEST(Words, CountRepeatedBytes) {
  EXPECT_EQ(bytes_of(""), "");
  EXPECT_EQ(bytes_of("hello"), "hello");
  EXPECT_EQ(bytes_of(std::string("hello\0\0\0", 8)), "hello 00*3");
  EXPECT_EQ(bytes_of(std::string(57, 'x') + "ab"), "x*57 ab");
  EXPECT_EQ(bytes_of(std::string("a\1b", 3)), "a 01 b");
}

TEST(Words, NameErrnoAndStatus) {
  EXPECT_EQ(error_text(0), "ok");
  EXPECT_EQ(error_text(EINVAL), "EINVAL");
  EXPECT_EQ(error_text(524), "524");
  EXPECT_EQ(status_text(-ETIMEDOUT), "-ETIMEDOUT");
  EXPECT_EQ(status_text(28), "28");
}

TEST(Words, ShortenDurations) {
  EXPECT_EQ(duration_text(std::chrono::milliseconds(500)), "500ms");
  EXPECT_EQ(duration_text(std::chrono::milliseconds(1500)), "1.5s");
  EXPECT_EQ(duration_text(std::chrono::milliseconds(1020)), "1.02s");
  EXPECT_EQ(duration_text(std::chrono::seconds(90)), "90s");
}

TEST(Records, KeepEachSidesLinesTogetherWhereNothingOrdersThem) {
  Record record;
  record.add(Side::kActive, "before");
  record.begin_apart();
  record.add(Side::kActive, "c");
  record.add(Side::kPassive, "s");
  record.end_apart();

  EXPECT_THAT(record.lines(), ElementsAre("before", "s", "c"));
}

TEST(Records, SurviveBeingWrittenAndRead) {
  const Goldens goldens = {{"connect/one", {.origin = "sim", .lines = {"a", "b"}}},
                           {"connect/two", {.origin = "linux", .lines = {}}}};
  std::string problem;

  const Goldens again = parse_records(records_text(goldens, "connect"), problem);

  EXPECT_EQ(problem, "");
  ASSERT_EQ(again.size(), 2u);
  EXPECT_EQ(again.at("connect/one").lines, (Lines{"a", "b"}));
  EXPECT_EQ(again.at("connect/two").origin, "linux");
}

TEST(Records, RefuseWhatIsNone) {
  for (const char* text : {"a line of nobody\n", "== connect/one\n", "== connect/one (moon)\n",
                           "== nogroup (sim)\n", "== a/b (sim)\n== a/b (sim)\n"}) {
    std::string problem;
    EXPECT_THAT(parse_records(text, problem), IsEmpty());
    EXPECT_NE(problem, "") << text;
  }
}

TEST(Differences, NameWhatIsMissingAndWhatIsNew) {
  EXPECT_THAT(difference({"a", "b", "c"}, {"a", "b", "c"}), IsEmpty());
  EXPECT_THAT(difference({"a", "b", "c"}, {"a", "x", "c", "d"}), ElementsAre("-b", "+x", "+d"));
  EXPECT_THAT(difference({"a"}, {}), ElementsAre("-a"));
  EXPECT_THAT(difference({}, {"a"}), ElementsAre("+a"));
}

/// A table of one deviation with these differences.
std::string table_of(const std::string& differences) {
  const std::string start =
      R"({"deviations": [{"name": "D1", "reason": "because", "link": "here",)";
  return start + R"("differences": [)" + differences + "]}]}";
}

TEST(Deviations, AreFoundByScenarioAndBackend) {
  std::string problem;
  const Deviations table = parse_deviations(
      table_of(
          R"({"scenario": "connect/nobody_listens", "backend": "sim", "lines": ["-a", "+b"]})"),
      problem);

  EXPECT_EQ(problem, "");
  ASSERT_NE(table.find("connect/nobody_listens", "sim"), nullptr);
  EXPECT_THAT(table.find("connect/nobody_listens", "sim")->lines, ElementsAre("-a", "+b"));
  EXPECT_EQ(table.find("connect/nobody_listens", "fabric"), nullptr);
}

TEST(Deviations, RefuseWhatNobodyCouldMean) {
  const std::string good = R"("scenario": "connect/nobody_listens", "backend": "sim")";
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"{", "not JSON"},
      {"[]", "not an object"},
      {R"({"deviations": [], "more": 1})", "unknown member more"},
      {R"({"deviations": [{"name": "D1", "reason": "", "link": "x", "differences": []}]})",
       "reason"},
      {table_of(""), "explains nothing"},
      {table_of(R"({"scenario": "connect/unheard_of", "backend": "sim", "lines": ["-a"]})"),
       "no such scenario"},
      {table_of(R"({"scenario": "connect/nobody_listens", "backend": "moon", "lines": ["-a"]})"),
       "no such backend"},
      {table_of("{" + good + R"(, "lines": []})"), "no line differs"},
      {table_of("{" + good + R"(, "lines": ["a"]})"), "begins with"},
      {table_of("{" + good + R"(, "lines": ["-a"], "not_run": true})"), "not_run"},
      {table_of("{" + good + R"(, "lines": ["-a"]}, {)" + good + R"(, "lines": ["-a"]})"), "twice"},
  };
  for (const auto& [text, complaint] : bad) {
    std::string problem;
    EXPECT_THAT(parse_deviations(text, problem).all, IsEmpty());
    EXPECT_THAT(problem, HasSubstr(complaint)) << text;
  }
}

}  // namespace
}  // namespace anyrdma::conformance
