// The state table held against the machine: every cell that can happen is played through messages.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "transport/ibcm/names.h"
#include "transport/ibcm/testing/cells.h"

namespace anyrdma::ibcm {
namespace {

using testing::Observation;
using testing::Subject;

void expect_handled(const Row& row, const Observation& seen) {
  EXPECT_EQ(seen.error, 0);
  EXPECT_TRUE(seen.dropped.empty() || row.event == Event::kRequestDropped);
  const bool may_go = row.event == Event::kDestroy || row.event == Event::kRequestDropped;
  EXPECT_EQ(seen.state.has_value(), !may_go);
  if (seen.state) {
    EXPECT_TRUE(row.may_reach(*seen.state)) << to_string(*seen.state);
  }
}

void expect_nothing_done(const Row& row, const Observation& seen) {
  EXPECT_EQ(seen.state, row.from);
  EXPECT_TRUE(seen.heard.empty());
  EXPECT_EQ(seen.error, row.error);
}

void expect_as_the_row_says(const Row& row, const Observation& seen) {
  switch (row.verdict) {
    case Verdict::kHandle:
      return expect_handled(row, seen);
    case Verdict::kIgnore:
      expect_nothing_done(row, seen);
      // A stale QPN is answered on behalf of the new connection, which is not this one.
      EXPECT_EQ(seen.sent.size(), row.event == Event::kStale ? 1u : 0u);
      EXPECT_EQ(seen.dropped.size(), row.drop ? 1u : 0u);
      if (row.drop && !seen.dropped.empty()) {
        EXPECT_EQ(seen.dropped.front(), *row.drop);
      }
      return;
    case Verdict::kReject:
      expect_nothing_done(row, seen);
      EXPECT_TRUE(seen.sent.empty());
      EXPECT_NE(seen.error, 0);
      return;
    case Verdict::kBug:
      return;
  }
}

TEST(StateCells, EachDoesWhatItsRowSays) {
  int played = 0;
  for (const Row& row : kStateTable) {
    if (row.verdict == Verdict::kBug || testing::makes_a_connection(row.event)) continue;
    SCOPED_TRACE(std::string(to_string(row.from)) + " + " + std::string(to_string(row.event)));
    Subject subject = testing::reach(row.from);
    expect_as_the_row_says(row, testing::provoke(subject, row.event));
    ++played;
  }
  EXPECT_GT(played, 200);
}

TEST(StateCells, ThePageShowsWhatTheyDo) {
  std::ifstream file("docs/ibcm-states.md");
  std::stringstream page;
  page << file.rdbuf();

  EXPECT_EQ(page.str(), testing::describe_all_cells())
      << "bazel run //transport/ibcm:write_states > docs/ibcm-states.md, and look at what changed";
}

TEST(StateCells, NoConnectionRestsWhereTheTableSaysOnlyBug) {
  for (const State state : {State::kListen, State::kRepRcvd}) {
    EXPECT_FALSE(testing::can_rest_in(state));
    for (std::size_t event = 0; event < kEvents; ++event)
      EXPECT_EQ(row_of(state, static_cast<Event>(event)).verdict, Verdict::kBug);
  }
}

TEST(StateTable, OnlyHandledCellsMove) {
  for (const Row& row : kStateTable) {
    EXPECT_EQ(row.next != 0, row.verdict == Verdict::kHandle);
    EXPECT_EQ(row.error != 0, row.verdict == Verdict::kReject);
  }
}

TEST(StateTable, EveryStateAndEventHasItsOwnName) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kStates; ++i) names.insert(to_string(static_cast<State>(i)));
  for (std::size_t i = 0; i < kEvents; ++i) names.insert(to_string(static_cast<Event>(i)));

  EXPECT_EQ(names.size(), kStates + kEvents);
}

}  // namespace
}  // namespace anyrdma::ibcm
