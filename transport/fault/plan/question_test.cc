#include "transport/fault/plan/question.h"

#include <gtest/gtest.h>

#include <string>

namespace anyrdma::fault {
namespace {

TEST(Question, KeepsAWordAndCutsWhatIsTooLong) {
  Question question;
  question.set_word("create_event_channel");
  EXPECT_EQ(question.text(), "create_event_channel");
  question.set_word("");
  EXPECT_EQ(question.text(), "");
  question.set_word(std::string(100, 'x'));
  EXPECT_EQ(question.text(), std::string(question.word.size() - 1, 'x'));
}

}  // namespace
}  // namespace anyrdma::fault
