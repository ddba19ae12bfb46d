#include "sim/host_description.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anyrdma::sim {
namespace {

using ::testing::HasSubstr;

TEST(HostDescription, IsValidByDefaultAndAtItsLimits) {
  EXPECT_EQ(problem_with({}), "");
  EXPECT_EQ(problem_with({.processors = 1, .memory = 64 << 20, .kernel = "3.2"}), "");
  EXPECT_EQ(problem_with({.processors = 1024, .memory = 64ull << 40, .kernel = "6.1.0-18+b_1~2"}),
            "");
}

TEST(HostDescription, HasProcessorsThatASetOfProcessorsCanName) {
  EXPECT_EQ(problem_with({.processors = 0}), "a host has from 1 to 1024 processors, not 0");
  EXPECT_EQ(problem_with({.processors = 1025}), "a host has from 1 to 1024 processors, not 1025");
}

TEST(HostDescription, HasMemoryForProgramsAndHugePages) {
  EXPECT_THAT(problem_with({.memory = 63 << 20}), HasSubstr("from 64MiB to 64TiB"));
  EXPECT_THAT(problem_with({.memory = 65ull << 40}), HasSubstr("from 64MiB to 64TiB"));
  EXPECT_THAT(problem_with({.memory = (64 << 20) + 4096}), HasSubstr("a multiple of 1MiB"));
  EXPECT_EQ(problem_with({.memory = 64 << 20}, 32), "");
  EXPECT_EQ(problem_with({.memory = 64 << 20}, 33),
            "the memory of the host, 64MiB, is too small for its 33 huge pages of 2MiB");
  // A file with many huge pages need not say how much memory there is.
  EXPECT_EQ(problem_with({}, 65536), "");
}

TEST(HostDescription, HasAKernelOnWhichProgramsStart) {
  for (const char* const release :
       {"", "6", "6.", "x.1", "-1.2", " 6.1", "6.1 x", "6.1/x", "6.1\n"})
    EXPECT_THAT(problem_with({.kernel = release}), HasSubstr("is no release of a kernel"))
        << release;
  EXPECT_THAT(problem_with({.kernel = "6.1" + std::string(62, '0')}), HasSubstr("at most 64"));
  EXPECT_THAT(problem_with({.kernel = "2.6.32"}), HasSubstr("the kernel '2.6.32' is older than"));
  EXPECT_THAT(problem_with({.kernel = "3.1.9"}), HasSubstr("is older than 3.2"));
}

TEST(ProcessorSet, IsAListOfRanges) {
  EXPECT_EQ(first_of(first_processors(2)), 0U);
  EXPECT_EQ(first_of(ProcessorSet().set(kProcessorsMax - 1)), kProcessorsMax - 1);
  EXPECT_EQ(list_text({}), "");
  EXPECT_EQ(list_text(first_processors(1)), "0");
  EXPECT_EQ(list_text(first_processors(1024)), "0-1023");
  EXPECT_EQ(list_text(ProcessorSet(0b1'0110'0011)), "0-1,5-6,8");
}

TEST(ProcessorSet, IsAMaskAsWideAsTheHost) {
  EXPECT_EQ(mask_text(first_processors(1), 1), "1");
  EXPECT_EQ(mask_text(first_processors(2), 2), "3");
  EXPECT_EQ(mask_text(ProcessorSet(1), 8), "01");
  EXPECT_EQ(mask_text(first_processors(32), 32), "ffffffff");
  EXPECT_EQ(mask_text(first_processors(36), 36), "f,ffffffff");
  EXPECT_EQ(mask_text(ProcessorSet(1), 64), "00000000,00000001");
}

}  // namespace
}  // namespace anyrdma::sim
