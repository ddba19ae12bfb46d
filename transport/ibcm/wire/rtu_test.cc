#include "transport/ibcm/wire/rtu.h"

#include <gtest/gtest.h>

#include "transport/ibcm/wire/captured_frames.h"

namespace anyrdma::ibcm::wire {
namespace {

using testing::bytes_of;
using testing::mad_of;
using testing::with_byte;

TEST(RtuCodec, ReadsTheCapturedFrameAsTsharkDoes) {
  const auto mad = mad_of(testing::kRtuFrame);

  const Result<Rtu> rtu = Rtu::parse(mad);

  ASSERT_TRUE(rtu);
  EXPECT_EQ(rtu->transaction_id, 0x00000002592d3347u);
  EXPECT_EQ(rtu->local_comm_id, CommId{0x47332d59});
  EXPECT_EQ(rtu->remote_comm_id, CommId{0x0f8e0fca});
  EXPECT_EQ(rtu->private_data.size(), kRtuPrivateDataSize);
}

TEST(RtuCodec, WritesTheCapturedFrameByteForByte) {
  const auto mad = mad_of(testing::kRtuFrame);

  EXPECT_EQ(bytes_of(Rtu::parse(mad).value()), mad);
}

TEST(RtuCodec, ReadsBackEveryFieldItWrites) {
  std::array<std::uint8_t, kRtuPrivateDataSize> data;
  data.fill(0xa5);
  const Rtu written{.transaction_id = 0x8000000000000001,
                    .local_comm_id = CommId{0x80000001},
                    .remote_comm_id = CommId{0x7ffffffe},
                    .private_data = data};

  const auto mad = bytes_of(written);
  const Result<Rtu> read = Rtu::parse(mad);

  ASSERT_TRUE(read);
  EXPECT_EQ(read->transaction_id, written.transaction_id);
  EXPECT_EQ(read->local_comm_id, written.local_comm_id);
  EXPECT_EQ(read->remote_comm_id, written.remote_comm_id);
  EXPECT_TRUE(std::ranges::equal(read->private_data, data));
}

TEST(RtuCodec, RefusesCommIdZero) {
  auto mad = mad_of(testing::kRtuFrame);
  std::fill_n(mad.begin() + 24, 4, std::uint8_t{0});
  EXPECT_EQ(Rtu::parse(mad).error(), DecodeErrc::kCommId);

  mad = mad_of(testing::kRtuFrame);
  std::fill_n(mad.begin() + 28, 4, std::uint8_t{0});
  EXPECT_EQ(Rtu::parse(mad).error(), DecodeErrc::kCommId);
}

// Header faults are the header's tests; here only that the parser looks.
TEST(RtuCodec, RefusesAnotherMessage) {
  EXPECT_EQ(Rtu::parse(with_byte(mad_of(testing::kRtuFrame), 17, 0x1f)).error(),
            DecodeErrc::kAttribute);
  EXPECT_EQ(Rtu::parse(with_byte(mad_of(testing::kRtuFrame), 1, 0x03)).error(),
            DecodeErrc::kManagementClass);
}

TEST(RtuCodec, RefusesEveryTruncation) {
  const auto mad = mad_of(testing::kRtuFrame);
  for (std::size_t size = 0; size < mad.size(); ++size)
    EXPECT_EQ(as_mad(std::span(mad).first(size)).error(), DecodeErrc::kLength);
  EXPECT_TRUE(as_mad(mad));
}

}  // namespace
}  // namespace anyrdma::ibcm::wire
