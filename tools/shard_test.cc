#include "tools/shard.h"

#include <gmock/gmock.h>

#include <map>

namespace anyrdma::tools {
namespace {

using ::testing::HasSubstr;
using Set = std::map<std::string, std::string>;

verbs::OrWhyNot<Shard> choose(const Set& set, const std::string& given = "",
                              std::optional<std::uint64_t> count = {}) {
  return choose_shard(given, count, [&](const char* name) {
    const auto found = set.find(name);
    return found == set.end() ? nullptr : found->second.c_str();
  });
}

/// "2/4 by NAME", or the sentence.
std::string text(const verbs::OrWhyNot<Shard>& shard) {
  if (!shard) return shard.error().sentence;
  return std::to_string(shard->index) + "/" + std::to_string(shard->count) + " by " + shard->source;
}

Set array(const std::string& id, const std::string& min, const std::string& max,
          const std::string& count, const std::string& step = "1") {
  return {{"SLURM_ARRAY_TASK_ID", id},
          {"SLURM_ARRAY_TASK_MIN", min},
          {"SLURM_ARRAY_TASK_MAX", max},
          {"SLURM_ARRAY_TASK_COUNT", count},
          {"SLURM_ARRAY_TASK_STEP", step}};
}

Set bazel(const std::string& index, const std::string& total) {
  return {{"TEST_SHARD_INDEX", index}, {"TEST_TOTAL_SHARDS", total}};
}

TEST(Shard, IsAllWhereNobodySaysOtherwise) {
  EXPECT_EQ(text(choose({})), "0/1 by ");
  EXPECT_EQ(text(choose({{"TEST_SHARD_INDEX", ""}})), "0/1 by ");
  EXPECT_EQ(text(choose(bazel("0", "0"))), "0/1 by ") << "a test that is not sharded";
}

TEST(Shard, IsWhatTheOptionSaysWhateverTheEnvironmentDoes) {
  EXPECT_EQ(text(choose({}, "3/4")), "3/4 by --shard");
  EXPECT_EQ(text(choose(bazel("x", "y"), "0/1")), "0/1 by --shard");
}

TEST(Shard, OfAnOptionThatMakesNoSenseIsRefused) {
  for (const char* wrong : {"3", "/", "1/", "/2", "1/x", "-1/2", "1/2/3", "1/99999999999", "+0/2"})
    EXPECT_THAT(text(choose({}, wrong)), HasSubstr("is invalid. Write I/N")) << wrong;
  for (const char* wrong : {"4/4", "0/0"})
    EXPECT_THAT(text(choose({}, wrong)), HasSubstr("shards are numbered from 0")) << wrong;
}

TEST(Shard, IsBazels) {
  EXPECT_EQ(text(choose(bazel("2", "5"))), "2/5 by TEST_SHARD_INDEX");
  EXPECT_THAT(text(choose(bazel("5", "5"))), HasSubstr("TEST_SHARD_INDEX says shard 5 of 5"));
  EXPECT_THAT(text(choose({{"TEST_SHARD_INDEX", "2"}})), HasSubstr("TEST_TOTAL_SHARDS is not"));
  EXPECT_THAT(text(choose({{"TEST_TOTAL_SHARDS", "2"}})), HasSubstr("TEST_SHARD_INDEX is not"));
  EXPECT_EQ(text(choose(bazel("two", "5"))), "TEST_SHARD_INDEX is 'two', and should be a number.");
}

TEST(Shard, IsThatOfASlurmArrayWhereverItBeginsAndWithAnyStep) {
  EXPECT_EQ(text(choose(array("2", "0", "3", "4"))), "2/4 by SLURM_ARRAY_TASK_ID");
  EXPECT_EQ(text(choose(array("1", "1", "16", "16"))), "0/16 by SLURM_ARRAY_TASK_ID");
  EXPECT_EQ(text(choose(array("16", "1", "16", "16"))), "15/16 by SLURM_ARRAY_TASK_ID");
  EXPECT_EQ(text(choose(array("30", "10", "39", "3", "10"))), "2/3 by SLURM_ARRAY_TASK_ID");
  Set without_step = array("2", "0", "3", "4");
  without_step.erase("SLURM_ARRAY_TASK_STEP");
  EXPECT_EQ(text(choose(without_step)), "2/4 by SLURM_ARRAY_TASK_ID");
}

TEST(Shard, OfASlurmArrayThatDoesNotSayItIsRefused) {
  EXPECT_THAT(text(choose(array("3", "1", "7", "3"))), HasSubstr("has 3 tasks, so it has gaps"));
  EXPECT_THAT(text(choose(array("3", "0", "4", "3", "2"))), HasSubstr("it has gaps"));
  EXPECT_THAT(text(choose(array("9", "0", "3", "4"))), HasSubstr("not in the array from 0 to 3"));
  EXPECT_THAT(text(choose(array("1", "2", "3", "2"))), HasSubstr("not in the array"));
  EXPECT_THAT(text(choose(array("1", "0", "3", "4", "0"))), HasSubstr("not in the array"));
  EXPECT_THAT(text(choose(array("1x", "0", "3", "4"))), HasSubstr("is '1x', and should be"));
  EXPECT_THAT(text(choose({{"SLURM_ARRAY_TASK_ID", "1"}})),
              HasSubstr("SLURM_ARRAY_TASK_MIN is not. Set both"));
}

TEST(Shard, IsThatOfAnIndexedJobWhoseCompletionsAreSaid) {
  const Set pod{{"JOB_COMPLETION_INDEX", "7"}};
  EXPECT_EQ(text(choose(pod, "", 16)), "7/16 by JOB_COMPLETION_INDEX");
  EXPECT_THAT(text(choose(pod)), HasSubstr("Add --shards N with the job's completions"));
  EXPECT_THAT(text(choose(pod, "", 7)), HasSubstr("says shard 7 of 7"));
}

TEST(Shard, OfContradictingVariablesIsRefused) {
  Set both = array("2", "0", "3", "4");
  both.merge(bazel("2", "4"));
  EXPECT_EQ(text(choose(both)), "2/4 by TEST_SHARD_INDEX") << "they agree";
  both["TEST_SHARD_INDEX"] = "1";
  EXPECT_EQ(text(choose(both)),
            "TEST_SHARD_INDEX says shard 1 of 4, and SLURM_ARRAY_TASK_ID says 2 of 4. Say which "
            "with --shard I/N.");
}

TEST(Shard, NumberThatContradictsOrHasNobodyToCountIsRefused) {
  EXPECT_EQ(text(choose(bazel("1", "4"), "", 4)), "1/4 by TEST_SHARD_INDEX");
  EXPECT_THAT(text(choose(bazel("1", "4"), "", 5)), HasSubstr("by TEST_SHARD_INDEX there are 4"));
  EXPECT_THAT(text(choose({}, "", 4)), HasSubstr("no variable says which one"));
  EXPECT_THAT(text(choose({}, "", 0)), HasSubstr("--shards is the number of all"));
}

}  // namespace
}  // namespace anyrdma::tools
