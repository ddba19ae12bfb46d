#include "transport/ibcm/wire/apr.h"

#include <gtest/gtest.h>

#include "transport/ibcm/wire/captured_frames.h"

namespace anyrdma::ibcm::wire {
namespace {

using testing::bytes_of;
using testing::mad_of;
using testing::with_byte;

// Linux sends none on RoCE, so there is none to capture: written by hand after IBTA vol 1, table
// 116.
constexpr std::string_view kAprFrame =
    "01070203000000000000000200000001001a0000000000001111111122222222020700007879";

TEST(AprCodec, ReadsEveryFieldOfTheTable) {
  const auto mad = mad_of(kAprFrame);

  const Result<Apr> apr = Apr::parse(mad);

  ASSERT_TRUE(apr);
  EXPECT_EQ(apr->transaction_id, 0x0000000200000001u);
  EXPECT_EQ(apr->local_comm_id, CommId{0x11111111});
  EXPECT_EQ(apr->remote_comm_id, CommId{0x22222222});
  EXPECT_EQ(apr->status, 7);
  EXPECT_TRUE(std::ranges::equal(apr->info, std::array<std::uint8_t, 2>{'x', 'y'}));
  EXPECT_EQ(apr->private_data.size(), kAprPrivateDataSize);
}

TEST(AprCodec, WritesTheFrameByteForByte) {
  const auto mad = mad_of(kAprFrame);

  EXPECT_EQ(bytes_of(Apr::parse(mad).value()), mad);
}

TEST(AprCodec, ReadsBackTheLargestValues) {
  std::array<std::uint8_t, kAprInfoSize> info;
  info.fill(0x5a);
  std::array<std::uint8_t, kAprPrivateDataSize> data;
  data.fill(0xa5);
  const Apr written{.transaction_id = ~std::uint64_t{0},
                    .local_comm_id = CommId{0xffffffff},
                    .remote_comm_id = CommId{0xfffffffe},
                    .status = 255,
                    .info = info,
                    .private_data = data};

  const auto mad = bytes_of(written);
  const Result<Apr> read = Apr::parse(mad);

  ASSERT_TRUE(read);
  EXPECT_EQ(read->transaction_id, written.transaction_id);
  EXPECT_EQ(read->local_comm_id, written.local_comm_id);
  EXPECT_EQ(read->remote_comm_id, written.remote_comm_id);
  EXPECT_EQ(read->status, written.status);
  EXPECT_TRUE(std::ranges::equal(read->info, info));
  EXPECT_TRUE(std::ranges::equal(read->private_data, data));
}

TEST(AprCodec, IgnoresReservedBitsAndSendsThemAsZero) {
  const auto clean = mad_of(kAprFrame);
  const auto mad = with_byte(with_byte(clean, 24 + 10, 0xff), 24 + 11, 0xff);

  EXPECT_EQ(bytes_of(Apr::parse(mad).value()), clean);
}

TEST(AprCodec, RefusesCommIdZero) {
  for (const std::ptrdiff_t at : {24, 28}) {
    auto mad = mad_of(kAprFrame);
    std::fill_n(mad.begin() + at, 4, std::uint8_t{0});
    EXPECT_EQ(Apr::parse(mad).error(), DecodeErrc::kCommId);
  }
}

TEST(AprCodec, RefusesInformationLongerThanItsPlace) {
  const auto mad = mad_of(kAprFrame);
  for (unsigned length = 0; length < 256; ++length) {
    const auto changed = with_byte(mad, 24 + 8, static_cast<std::uint8_t>(length));
    EXPECT_EQ(Apr::parse(changed).has_value(), length <= kAprInfoSize) << length;
    if (length > kAprInfoSize) {
      EXPECT_EQ(Apr::parse(changed).error(), DecodeErrc::kInfoLength);
    }
  }
}

// Header faults are the header's tests; here only that the parser looks.
TEST(AprCodec, RefusesAnotherMessage) {
  EXPECT_EQ(Apr::parse(with_byte(mad_of(kAprFrame), 17, 0x19)).error(), DecodeErrc::kAttribute);
  EXPECT_EQ(Apr::parse(with_byte(mad_of(kAprFrame), 1, 0x03)).error(),
            DecodeErrc::kManagementClass);
}

TEST(AprCodec, RefusesEveryTruncation) {
  const auto mad = mad_of(kAprFrame);
  for (std::size_t size = 0; size < mad.size(); ++size)
    EXPECT_EQ(as_mad(std::span(mad).first(size)).error(), DecodeErrc::kLength);
  EXPECT_TRUE(as_mad(mad));
}

}  // namespace
}  // namespace anyrdma::ibcm::wire
