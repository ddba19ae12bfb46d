#include "recording/page/story_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

namespace anyrdma::recording {
namespace {

using testing::HasSubstr;

Story story(const std::string& seed) {
  Story told;
  told.seed = seed;
  told.lanes.push_back({.of = "host", .name = "server"});
  Record& note = told.records.emplace_back();
  note.kind = RecordKind::kNote;
  note.name = "hello";
  return told;
}

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(StoryPage, HasTheRecordingOrBoth) {
  const Story left = story("7");
  const Story right = story("8");
  const std::string path = testing::TempDir() + "page.html";

  ASSERT_EQ(write_story_page({&left}, path), "");
  const std::string one = text_of(path);
  ASSERT_EQ(write_story_page({&left, &right}, path), "");
  const std::string both = text_of(path);

  EXPECT_THAT(one, HasSubstr(R"("seed":"7")"));
  EXPECT_THAT(one, HasSubstr(R"("texts":["note","hello"])"));
  EXPECT_THAT(both, HasSubstr(R"("seed":"7")"));
  EXPECT_THAT(both, HasSubstr(R"("seed":"8")"));
}

TEST(StoryPage, HasTheExplanationInTheHeaderOfTheFirstRun) {
  const Story left = story("7");
  const Story right = story("8");
  const std::string path = testing::TempDir() + "explained.html";

  ASSERT_EQ(write_story_page({&left, &right}, path, "{\"problem\":\"a < b\"}\n"), "");
  const std::string both = text_of(path);

  const std::string member = R"("explanation":{"problem":"a \u003c b"})";
  EXPECT_THAT(both, HasSubstr(member));
  EXPECT_LT(both.find(member), both.find(R"("seed":"8")"));
  EXPECT_EQ(both.find(member), both.rfind(member));
}

TEST(StoryPage, SaysThatItCannotBeWritten) {
  const Story told = story("7");

  EXPECT_EQ(write_story_page({&told}, "/nowhere/page.html"),
            "'/nowhere/page.html' cannot be written. Check the path");
}

}  // namespace
}  // namespace anyrdma::recording
