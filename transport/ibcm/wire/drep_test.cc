#include "transport/ibcm/wire/drep.h"

#include <gtest/gtest.h>

#include "transport/ibcm/wire/captured_frames.h"

namespace anyrdma::ibcm::wire {
namespace {

using testing::bytes_of;
using testing::mad_of;
using testing::with_byte;

TEST(DrepCodec, ReadsTheCapturedFrameAsTsharkDoes) {
  const auto mad = mad_of(testing::kDrepFrame);

  const Result<Drep> drep = Drep::parse(mad);

  ASSERT_TRUE(drep);
  EXPECT_EQ(drep->transaction_id, 0x00000002592d3347u);
  EXPECT_EQ(drep->local_comm_id, CommId{0x0f8e0fca});
  EXPECT_EQ(drep->remote_comm_id, CommId{0x47332d59});
  EXPECT_EQ(drep->private_data.size(), kDrepPrivateDataSize);
}

TEST(DrepCodec, WritesTheCapturedFrameByteForByte) {
  const auto mad = mad_of(testing::kDrepFrame);

  EXPECT_EQ(bytes_of(Drep::parse(mad).value()), mad);
}

TEST(DrepCodec, ReadsBackEveryFieldItWrites) {
  std::array<std::uint8_t, kDrepPrivateDataSize> data;
  data.fill(0xa5);
  const Drep written{.transaction_id = 0x8000000000000001,
                     .local_comm_id = CommId{0x80000001},
                     .remote_comm_id = CommId{0x7ffffffe},
                     .private_data = data};

  const auto mad = bytes_of(written);
  const Result<Drep> read = Drep::parse(mad);

  ASSERT_TRUE(read);
  EXPECT_EQ(read->transaction_id, written.transaction_id);
  EXPECT_EQ(read->local_comm_id, written.local_comm_id);
  EXPECT_EQ(read->remote_comm_id, written.remote_comm_id);
  EXPECT_TRUE(std::ranges::equal(read->private_data, data));
}

TEST(DrepCodec, RefusesCommIdZero) {
  auto mad = mad_of(testing::kDrepFrame);
  std::fill_n(mad.begin() + 24, 4, std::uint8_t{0});
  EXPECT_EQ(Drep::parse(mad).error(), DecodeErrc::kCommId);

  mad = mad_of(testing::kDrepFrame);
  std::fill_n(mad.begin() + 28, 4, std::uint8_t{0});
  EXPECT_EQ(Drep::parse(mad).error(), DecodeErrc::kCommId);
}

// Header faults are the header's tests; here only that the parser looks.
TEST(DrepCodec, RefusesAnotherMessage) {
  EXPECT_EQ(Drep::parse(with_byte(mad_of(testing::kDrepFrame), 17, 0x1f)).error(),
            DecodeErrc::kAttribute);
  EXPECT_EQ(Drep::parse(with_byte(mad_of(testing::kDrepFrame), 1, 0x03)).error(),
            DecodeErrc::kManagementClass);
}

TEST(DrepCodec, RefusesEveryTruncation) {
  const auto mad = mad_of(testing::kDrepFrame);
  for (std::size_t size = 0; size < mad.size(); ++size)
    EXPECT_EQ(as_mad(std::span(mad).first(size)).error(), DecodeErrc::kLength);
  EXPECT_TRUE(as_mad(mad));
}

}  // namespace
}  // namespace anyrdma::ibcm::wire
