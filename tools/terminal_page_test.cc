#include "tools/terminal_page.h"

#include <gmock/gmock.h>

#include <string>
#include <string_view>

namespace anyrdma::tools {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(TerminalPage, PutsHeadingsInCapitalsInTheFirstColumnAndIndentsTheRest) {
  EXPECT_EQ(terminal_page("# The title\n\nOne.\n\n## What `lose` does\n\nTwo.\n"),
            "THE TITLE\n\n  One.\n\nWHAT LOSE DOES\n\n  Two.\n");
}

TEST(TerminalPage, JoinsAndBreaksTheLinesOfAParagraph) {
  const std::string words = "one two three four five six seven eight nine ten\n";
  const std::string page = terminal_page(words + words);
  EXPECT_EQ(page,
            "  one two three four five six seven eight nine ten one two three four five\n"
            "  six seven eight nine ten\n");
}

TEST(TerminalPage, IndentsWhatFollowsTheMarkOfAnItem) {
  const std::string item = "one two three four five six seven eight nine ten eleven twelve\n";
  EXPECT_EQ(terminal_page("- " + item + "  thirteen fourteen\n- two\n\n1. one\n"),
            "  - one two three four five six seven eight nine ten eleven twelve thirteen\n"
            "    fourteen\n"
            "  - two\n\n"
            "  1. one\n");
}

TEST(TerminalPage, KeepsCodeAsItIs) {
  EXPECT_EQ(terminal_page("a\n```\non a true # [x](y)\n\n  b\n```\nc\n"),
            "  a\n\n    on a true # [x](y)\n\n      b\n\n  c\n");
}

TEST(TerminalPage, SetsATableInTwoColumns) {
  EXPECT_EQ(
      terminal_page("| word | meaning |\n|---|---|\n| `a \\| b` | one `c` |\n| `d` | two |\n"),
      "  word   meaning\n"
      "  --------------------------------------------------------------------------\n"
      "  a | b  one `c`\n"
      "  d      two\n");
}

TEST(TerminalPage, PutsTheMeaningOfALongWordOnTheNextLine) {
  EXPECT_EQ(terminal_page("| a | b |\n|-|-|\n| one two three four five six seven | eight |\n"),
            "  a  b\n"
            "  --------------------------------------------------------------------------\n"
            "  one two three four five six seven\n"
            "     eight\n");
}

TEST(TerminalPage, SeparatesTheOtherCellsOfARow) {
  EXPECT_THAT(terminal_page("| a | b | c |\n"), HasSubstr("a  b; c"));
}

TEST(TerminalPage, NamesThePageThatALinkLeadsTo) {
  EXPECT_EQ(terminal_page("[sim.md](sim.md#a), [the map](cm/id.md), [below](#b), "
                          "[h.h](../tools/h.h), [it](https://x.org/).\n"),
            "  docs/sim.md, the map (docs/cm/id.md), below, tools/h.h, it.\n");
}

TEST(TerminalPage, KeepsBracketsAndStarsThatAreNoMarks) {
  EXPECT_EQ(terminal_page("a [b] **c** `**d** [e](f)`\n"), "  a [b] c `**d** [e](f)`\n");
}

TEST(TerminalPage, OfAnUnfinishedPageIsWhatThereIs) {
  for (const std::string_view page : {"", "`", "[a](", "[", "|", "| a", "```\na", "- ", "#", "1."})
    EXPECT_THAT(terminal_page(page), Not(HasSubstr("\r"))) << page;
}

}  // namespace
}  // namespace anyrdma::tools
