#include "transport/fault/plan/question.h"

#include <gtest/gtest.h>

#include <string>

namespace anyrdma::fault {
namespace {

TEST(Oversight, ReadsWhatItSays) {
  for (const bool gate : {false, true}) {
    for (const bool events : {false, true}) {
      const Oversight before{.events = events, .gate = gate, .requests = !gate, .takes = events};
      const Oversight after = Oversight::parse(before.to_string());
      EXPECT_EQ(after.to_string(), before.to_string());
      EXPECT_EQ(after.gate, gate);
      EXPECT_EQ(after.events, events);
      EXPECT_FALSE(after.calls);
    }
  }
}

TEST(Oversight, IsNeverEmptyAndKnowsNoOtherWords) {
  EXPECT_EQ(Oversight().to_string(), "device");
  EXPECT_EQ(Oversight::parse("device,eventsX,,gate").to_string(), "device,gate");
}

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
