#include "sim/mistakes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

namespace anyrdma::sim {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::HasSubstr;

Mistake mistake(const char* checker, bool remark = false) {
  return {.checker = checker, .program = "client/rping", .remark = remark, .text = "it is wrong"};
}

TEST(Mistakes, ALineNamesCheckerAndProgram) {
  Mistakes mistakes({}, {});
  std::vector<std::string> heard;
  mistakes.listen([&](const std::string& line, const std::string&) { heard.push_back(line); });
  mistakes.add(mistake("source"));
  EXPECT_EQ(mistakes.lines(), "source: client/rping: it is wrong\n");
  EXPECT_THAT(heard, testing::ElementsAre("source: client/rping: it is wrong"));
}

TEST(Mistakes, FromTheFourthOnTheyAreCounted) {
  Mistakes mistakes({}, {});
  for (int i = 0; i < 10; ++i) mistakes.add(mistake("source"));
  EXPECT_THAT(mistakes.lines(), HasSubstr("  (and 7 more of its kind)\n"));
}

TEST(Mistakes, WhatIsAllowedIsNotHeard) {
  Mistakes mistakes({{"source", "a reason"}}, {});
  mistakes.add(mistake("source"));
  EXPECT_TRUE(mistakes.empty());
}

TEST(Mistakes, ARemarkThatIsDeniedIsAMistake) {
  Mistakes mistakes({}, {"dry"});
  mistakes.add(mistake("dry", true));
  mistakes.add(mistake("gone", true));
  mistakes.add(mistake("depth", true));
  EXPECT_THAT(mistakes.lines(), HasSubstr("dry: "));
  EXPECT_THAT(mistakes.remarks(), HasSubstr("gone: "));
  EXPECT_THAT(mistakes.remarks(), testing::Not(HasSubstr("dry: ")));
  EXPECT_THAT(mistakes.remarks(), testing::Not(HasSubstr("depth: ")));
}

TEST(Mistakes, AWaitThatEndsIsNone) {
  Mistakes mistakes({}, {});
  mistakes.on_wait("a 1", Instant{}, mistake("owed"));
  mistakes.on_wait_over("a 1");
  mistakes.on_rest();
  EXPECT_TRUE(mistakes.empty());
}

TEST(Mistakes, AWaitThatLastsIsOneWhileTimersGoOn) {
  Mistakes mistakes({}, {});
  mistakes.on_wait("a 1", Instant{} + seconds(1), mistake("owed"));
  EXPECT_FALSE(mistakes.is_stuck(Instant{} + minutes(5)));
  EXPECT_TRUE(mistakes.is_stuck(Instant{} + minutes(5) + seconds(1)));
  EXPECT_THAT(mistakes.lines(), HasSubstr("owed: "));
}

TEST(Mistakes, AWaitOfAThreadThatEndsIsNone) {
  Mistakes mistakes({}, {});
  mistakes.on_wait("client/rping[7] 8", Instant{}, mistake("owed"));
  mistakes.on_end("client/rping[7] ");
  mistakes.on_rest();
  EXPECT_TRUE(mistakes.empty());
}

TEST(Mistakes, AWaitForAnotherThreadIsARemark) {
  const Mistake other =
      owed_mistake({.events = "  id 3: ESTABLISHED\n  more\n", .own = false}, "a/b");
  EXPECT_EQ(other.checker, "handover");
  EXPECT_TRUE(other.remark);
  EXPECT_THAT(other.text, HasSubstr("(id 3: ESTABLISHED)"));
  EXPECT_EQ(owed_mistake({.events = "", .own = true}, "a/b").checker, "owed");
}

TEST(Mistakes, OnlyCheckersHaveTheirNames) {
  EXPECT_TRUE(is_ownership_checker("source"));
  EXPECT_FALSE(is_ownership_checker("surce"));
  EXPECT_THAT(ownership_checkers(), HasSubstr("region, "));
}

}  // namespace
}  // namespace anyrdma::sim
