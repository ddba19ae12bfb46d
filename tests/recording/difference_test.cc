// `anyrdma trace diff` names what somebody would name who reads both runs side by side.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "recording/view/text.h"
#include "tests/recording/recorded.h"

namespace anyrdma::tests {
namespace {

using recording::Record;
using recording::Story;
using ::testing::HasSubstr;

/// Two plans, and what is different between their runs.
struct Pair {
  const char* name;
  const char* left;
  const char* right;
  const char* sentence;  ///< a part of it
  const char* record;    ///< the name of the record that the first run has there; empty: any
};

class Differences : public ::testing::TestWithParam<Pair> {};

TEST_P(Differences, AreNamedWhereTheyBegin) {
  const Story left = record_clean_run(8, GetParam().left).story;
  const Story right = record_clean_run(8, GetParam().right).story;

  const auto difference = recording::difference_of(left, right);

  ASSERT_TRUE(difference.has_value());
  EXPECT_THAT(difference->sentence, HasSubstr(GetParam().sentence));
  const std::string_view record = GetParam().record;
  if (!record.empty()) {
    EXPECT_EQ(left.records[difference->at].name, record) << difference->text;
  }
}

/// Where a plan watches packets, each is answered by itself: both runs have such a plan.
constexpr const char* kUndisturbed = "maybe on client->server REJ 9: lose\n";
constexpr const char* kLost = "the fate differs: it is under way and lost: lost by a fault";

constexpr Pair kPairs[] = {
    {"LostRequest", kUndisturbed, "on client->server REQ 1: lose\n", kLost, "REQ"},
    {"LostReply", kUndisturbed, "on server->client REP 1: lose\n", kLost, "REP"},
    {"LostRtu", kUndisturbed, "on client->server RTU 1: lose\n", kLost, "RTU"},
    {"LostDisconnect", kUndisturbed, "on client->server DREQ 1: lose\n", kLost, "DREQ"},
    {"LateRequest", kUndisturbed, "on client->server REQ 1: delay 5ms\n",
     "the arrival differs: 0.000006000 and 0.005006000", "REQ"},
    {"TwoRequests", kUndisturbed, "on client->server REQ 1: duplicate\n",
     "the first run has a wait where the second has a fault", ""},
    {"SlowPath", kUndisturbed, "at 0s: slow client<->server 5ms\n",
     "the first run has a wait where the second has a fault", ""},
    {"OneOrTheOther", "on client->server REQ 1: lose\n", "on server->client REP 1: lose\n",
     "the fate differs: lost: lost by a fault and it is under way", "REQ"},
    {"LatePacket", kUndisturbed, "on client->server packet 3: delay 1ms\n", "the arrival differs",
     "RC SEND Only"},
    {"Corrupted", kUndisturbed, "on client->server DREQ 1: corrupt\n",
     "where the second has a fault", ""},
};
INSTANTIATE_TEST_SUITE_P(Planted, Differences, ::testing::ValuesIn(kPairs),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(Difference, EqualRunsAreAlike) {
  EXPECT_FALSE(recording::difference_of(record_clean_run(8).story, record_clean_run(8).story));
}

TEST(Difference, NumbersThatChanceDrawsAreNone) {
  // Without jitter and loss another seed draws other PSNs and numbers of connections, and that is
  // all.
  const auto difference =
      recording::difference_of(record_clean_run(8).story, record_clean_run(9).story);
  EXPECT_FALSE(difference.has_value()) << difference->text;
}

TEST(Difference, WhatIsDroppedWhereItCameToIsNamed) {
  Story left = record_clean_run(8).story;
  Story right = left;
  for (Record& each : right.records) {
    if (each.name == "DREQ") each.fate = "dropped: wrong ICRC";
  }
  const auto difference = recording::difference_of(left, right);
  ASSERT_TRUE(difference.has_value());
  EXPECT_THAT(difference->sentence,
              HasSubstr("the fate differs: it is taken and dropped: wrong ICRC"));
  EXPECT_EQ(left.records[difference->at].name, "DREQ");
}

TEST(Difference, ARunThatEndsEarlierIsNamed) {
  const Story whole = record_clean_run(8).story;
  Story part = whole;
  part.records.pop_back();
  const auto difference = recording::difference_of(part, whole);
  ASSERT_TRUE(difference.has_value());
  EXPECT_THAT(difference->sentence, HasSubstr("the first run ends here, the other one continues"));
  EXPECT_THAT(difference->text, HasSubstr("(it ends here)"));
}

}  // namespace
}  // namespace anyrdma::tests
