#include "base/number.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace anyrdma {
namespace {

using ::testing::Optional;

TEST(TakeNumber, LeavesWhatFollowsTheDigits) {
  std::string_view text = "12 pages";
  EXPECT_THAT(take_number<unsigned>(text), Optional(12U));
  EXPECT_EQ(text, " pages");
}

TEST(TakeNumber, LeavesTheTextIfThereIsNone) {
  for (const std::string_view wrong : {"", "pages", " 1", "+1", "-1", "4294967296"}) {
    std::string_view text = wrong;
    EXPECT_EQ(take_number<std::uint32_t>(text), std::nullopt) << wrong;
    EXPECT_EQ(text, wrong);
  }
}

TEST(TakeNumber, TakesTheLimitsOfItsType) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  std::string_view text = "-9223372036854775808";
  EXPECT_THAT(take_number<std::int64_t>(text), Optional(kLeast));
  EXPECT_TRUE(text.empty());
}

TEST(WholeNumber, IsAllOfTheText) {
  EXPECT_THAT(whole_number<std::uint8_t>("255"), Optional(255));
  for (const std::string_view wrong : {"", "256", "25 ", "2x", "0x2"})
    EXPECT_EQ(whole_number<std::uint8_t>(wrong), std::nullopt) << wrong;
}

TEST(WholeNumber, HasItsBase) {
  EXPECT_THAT(whole_number<std::uint64_t>("fFff", 16), Optional(0xffffU));
  EXPECT_EQ(whole_number<std::uint64_t>("fg", 16), std::nullopt);
}

}  // namespace
}  // namespace anyrdma
