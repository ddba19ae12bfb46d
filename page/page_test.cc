#include "page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace anyrdma::page {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

const std::string kRun = "{\"anyrdma\":1,\"program\":\"it\"}\n";

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++found;
  return found;
}

TEST(Page, HoldsAllItNeeds) {
  std::istringstream lines(kRun);
  std::ostringstream html;

  ASSERT_EQ(write_page(lines, html), "");

  EXPECT_THAT(html.str(), AllOf(HasSubstr("<!doctype html>"), HasSubstr("\"program\":\"it\""),
                                HasSubstr("</html>")));
  EXPECT_THAT(html.str(), AllOf(Not(HasSubstr("src=")), Not(HasSubstr("http:")),
                                Not(HasSubstr("https:")), Not(HasSubstr("@import"))));
  EXPECT_EQ(count(html.str(), "class=\"run\""), 1U);
}

TEST(Page, OfTwoRunsHasBoth) {
  std::istringstream left(kRun);
  std::istringstream right(kRun);
  std::ostringstream html;

  ASSERT_EQ(write_comparison(left, right, html), "");

  EXPECT_EQ(count(html.str(), "class=\"run\""), 2U);
}

TEST(Page, IsMadeOfLinesThatAreHandedOver) {
  PackedRun run;
  std::ostringstream html;

  EXPECT_EQ(run.add(kRun), "");
  EXPECT_EQ(run.add(R"({"lane":1,"of":"host","name":"server"})"), "");
  EXPECT_THAT(run.add("?"), HasSubstr("no JSON"));
  write_page({run}, html);

  EXPECT_THAT(html.str(), HasSubstr("\"name\":\"server\""));
}

TEST(Page, IsNotBegunIfARunCannotBeRead) {
  std::istringstream lines("nonsense\n");
  std::ostringstream html;

  EXPECT_THAT(write_page(lines, html), HasSubstr("line 1: no JSON"));

  EXPECT_EQ(html.str(), "");
}

TEST(Page, SaysWhichOfTwoRunsCannotBeRead) {
  std::istringstream left(kRun);
  std::istringstream right("[]\n");
  std::ostringstream html;

  EXPECT_EQ(write_comparison(left, right, html), "the second run, line 1: no object");

  EXPECT_EQ(html.str(), "");
}

}  // namespace
}  // namespace anyrdma::page
