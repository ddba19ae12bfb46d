#include "cm/state_table.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace anyrdma::cm {
namespace {

std::string contents(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(StateTable, EveryCellIsAsTheGoldenFileSays) {
  EXPECT_EQ(state_tables_as_text(), contents("cm/testdata/id_states.txt"));
}

TEST(StateTable, ThePageForReadersShowsTheTable) {
  EXPECT_EQ(state_tables_as_markdown(), contents("docs/id-states.md"));
}

TEST(StateTable, AConnectedIdNeverBecomesConnectableAgain) {
  for (const OperationRow& row : operation_table::kRows) {
    if (row.from != State::kConnect && row.from != State::kDisconnect) continue;
    if (row.operation == Operation::kDestroy) continue;
    EXPECT_EQ(row.success, row.from) << to_string(row.operation);
    EXPECT_EQ(row.failure, row.from) << to_string(row.operation);
  }
}

TEST(StateTable, ARemovedDeviceLeavesOnlyDestruction) {
  for (const OperationRow& row : operation_table::kRows) {
    if (row.from != State::kDeviceRemoval) continue;
    EXPECT_EQ(row.verdict == Verdict::kAllow, row.operation == Operation::kDestroy);
  }
}

}  // namespace
}  // namespace anyrdma::cm
