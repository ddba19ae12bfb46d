#include "sim/debug/cluster/destination.h"

#include <gmock/gmock.h>

#include <string>

namespace anyrdma::sim::debug {
namespace {

using testing::HasSubstr;

TEST(Destination, IsAFailureARecordOrATime) {
  EXPECT_EQ(parse_destination("failure").value(), Destination(AtFailure{}));
  EXPECT_EQ(parse_destination("record 123").value(), Destination(AtRecord{123}));
  EXPECT_EQ(parse_destination("10.5ms").value(),
            Destination(AtMoment{std::chrono::microseconds(10'500)}));
  EXPECT_EQ(parse_destination("0s").value(), Destination(AtMoment{}));
}

TEST(Destination, IsRefusedWithTheFormThatIsMissing) {
  for (const std::string wrong : {"record", "record ", "record -1", "record 1x", "record  1",
                                  "record 99999999999999999999"}) {
    const auto parsed = parse_destination(wrong);
    ASSERT_FALSE(parsed) << wrong;
    EXPECT_THAT(parsed.error().sentence, HasSubstr("record 123")) << wrong;
  }
  for (const std::string wrong : {"", " ", "5", "-5ms", "5 parsecs", "Failure", "failure now"}) {
    const auto parsed = parse_destination(wrong);
    ASSERT_FALSE(parsed) << wrong;
    EXPECT_THAT(parsed.error().sentence, HasSubstr("10.5ms")) << wrong;
  }
}

}  // namespace
}  // namespace anyrdma::sim::debug
