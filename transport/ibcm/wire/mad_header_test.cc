#include "transport/ibcm/wire/mad_header.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "transport/ibcm/wire/captured_frames.h"

namespace anyrdma::ibcm::wire {
namespace {

using testing::bytes_of;
using testing::mad_of;
using testing::with_byte;

TEST(MadHeader, ReadsTheCapturedFrame) {
  const Result<MadHeader> header = MadHeader::parse(mad_of(testing::kReqFrame));

  ASSERT_TRUE(header);
  EXPECT_EQ(*header, (MadHeader{0x00000002592d3347, Attribute::kReq, 0}));
}

TEST(MadHeader, LeavesNothingBehindOfWhatTheBufferHeld) {
  const auto mad = bytes_of(MadHeader{0x0102030405060708, Attribute::kLap, 0x090a0b0c});

  EXPECT_EQ(mad, mad_of("0107020300000000010203040506070800190000090a0b0c"));
}

TEST(MadHeader, IgnoresStatusAndReservedBits) {
  auto mad = mad_of(testing::kReqFrame);
  for (const std::size_t at : {4u, 5u, 6u, 7u, 18u, 19u}) mad[at] = 0xff;

  EXPECT_EQ(MadHeader::parse(mad).value(), MadHeader::parse(mad_of(testing::kReqFrame)).value());
}

TEST(MadHeader, SaysWhichFieldIsIllegal) {
  struct Case {
    std::size_t at;
    std::uint8_t legal;
    DecodeErrc error;
  };
  const auto mad = mad_of(testing::kReqFrame);
  for (const Case& c :
       {Case{0, 1, DecodeErrc::kBaseVersion}, Case{1, 7, DecodeErrc::kManagementClass},
        Case{2, 2, DecodeErrc::kClassVersion}, Case{3, 3, DecodeErrc::kMethod}}) {
    for (unsigned byte = 0; byte < 256; ++byte) {
      if (byte == c.legal) continue;
      const auto changed = with_byte(mad, c.at, static_cast<std::uint8_t>(byte));
      EXPECT_EQ(MadHeader::parse(changed).error(), c.error) << c.at << " " << byte;
    }
  }
}

TEST(MadHeader, TakesAnUnknownAttributeButNotForAnother) {
  const auto mad = with_byte(mad_of(testing::kReqFrame), 16, 0x77);

  EXPECT_EQ(MadHeader::parse(mad).value().attribute, static_cast<Attribute>(0x7710));
  EXPECT_EQ(MadHeader::parse_as(mad, Attribute::kReq).error(), DecodeErrc::kAttribute);
}

TEST(MadHeader, TakesNothingLongerThanAMad) {
  const std::array<std::uint8_t, kMadSize + 1> bytes{};

  EXPECT_EQ(as_mad(bytes).error(), DecodeErrc::kLength);
}

TEST(DecodeErrc, EveryReasonHasItsOwnWords) {
  std::set<std::string> words;
  for (int i = 1; i <= static_cast<int>(DecodeErrc::kInfoLength); ++i)
    words.insert(decode_category().message(i));

  EXPECT_EQ(words.size(), 11u);
  EXPECT_FALSE(words.contains(decode_category().message(0)));
  EXPECT_STREQ(decode_category().name(), "ibcm-decode");
}

}  // namespace
}  // namespace anyrdma::ibcm::wire
