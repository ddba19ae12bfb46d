#include "sim/programs/syscalls/new_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anyrdma::sim::programs {
namespace {

using testing::ElementsAre;

TEST(KeptVariables, PrecedeTheEntriesOfAList) {
  EXPECT_THAT(with_kept({"LD_PRELOAD=theirs.so"}, {"LD_PRELOAD=a.so:b.so"}),
              ElementsAre("LD_PRELOAD=a.so:b.so:theirs.so"));
}

TEST(KeptVariables, AreAddedWhereTheyAreMissing) {
  EXPECT_THAT(with_kept({"PATH=/bin"}, {"LD_PRELOAD=a.so", "ANYRDMA_DIR=/x"}),
              ElementsAre("PATH=/bin", "LD_PRELOAD=a.so", "ANYRDMA_DIR=/x"));
}

TEST(KeptVariables, ChangeNothingTwice) {
  const std::vector<std::string> kept{"LD_PRELOAD=a.so", "LD_LIBRARY_PATH=/lib"};
  const auto once = with_kept({"LD_PRELOAD=theirs.so", "LD_LIBRARY_PATH="}, kept);

  EXPECT_EQ(with_kept(once, kept), once);
  EXPECT_THAT(once, ElementsAre("LD_PRELOAD=a.so:theirs.so", "LD_LIBRARY_PATH=/lib"));
}

TEST(KeptVariables, AreNoneWhoseNamesOnlyBeginAlike) {
  EXPECT_THAT(with_kept({"LD_PRELOAD=a.so.old"}, {"LD_PRELOAD=a.so"}),
              ElementsAre("LD_PRELOAD=a.so:a.so.old"));
}

TEST(KeptVariables, OfOneValueStayAsTheProgramGivesThem) {
  EXPECT_THAT(with_kept({"ANYRDMA_ADDRESSES=10.0.0.9", "odd"}, {"ANYRDMA_ADDRESSES=10.0.0.1"}),
              ElementsAre("ANYRDMA_ADDRESSES=10.0.0.9", "odd"));
}

}  // namespace
}  // namespace anyrdma::sim::programs
