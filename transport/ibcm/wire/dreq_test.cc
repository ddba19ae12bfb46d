#include "transport/ibcm/wire/dreq.h"

#include <gtest/gtest.h>

#include "transport/ibcm/wire/captured_frames.h"

namespace anyrdma::ibcm::wire {
namespace {

using testing::bytes_of;
using testing::mad_of;
using testing::with_byte;

TEST(DreqCodec, ReadsTheCapturedFrameAsTsharkDoes) {
  const auto mad = mad_of(testing::kDreqFrame);

  const Result<Dreq> dreq = Dreq::parse(mad);

  ASSERT_TRUE(dreq);
  EXPECT_EQ(dreq->transaction_id, 0x00000002592d3347u);
  EXPECT_EQ(dreq->local_comm_id, CommId{0x47332d59});
  EXPECT_EQ(dreq->remote_comm_id, CommId{0x0f8e0fca});
  EXPECT_EQ(dreq->remote_qpn, Qpn{0x11});
  EXPECT_EQ(dreq->private_data.size(), kDreqPrivateDataSize);
}

TEST(DreqCodec, WritesTheCapturedFrameByteForByte) {
  const auto mad = mad_of(testing::kDreqFrame);

  EXPECT_EQ(bytes_of(Dreq::parse(mad).value()), mad);
}

TEST(DreqCodec, ReadsBackEveryFieldItWrites) {
  std::array<std::uint8_t, kDreqPrivateDataSize> data;
  data.fill(0xa5);
  const Dreq written{.transaction_id = 0x8000000000000001,
                     .local_comm_id = CommId{0x80000001},
                     .remote_comm_id = CommId{0x7ffffffe},
                     .remote_qpn = Qpn{0xfffffe},
                     .private_data = data};

  const auto mad = bytes_of(written);
  const Result<Dreq> read = Dreq::parse(mad);

  ASSERT_TRUE(read);
  EXPECT_EQ(read->transaction_id, written.transaction_id);
  EXPECT_EQ(read->local_comm_id, written.local_comm_id);
  EXPECT_EQ(read->remote_comm_id, written.remote_comm_id);
  EXPECT_EQ(read->remote_qpn, written.remote_qpn);
  EXPECT_TRUE(std::ranges::equal(read->private_data, data));
}

TEST(DreqCodec, IgnoresReservedBitsAndSendsThemAsZero) {
  const auto clean = mad_of(testing::kDreqFrame);

  EXPECT_EQ(bytes_of(Dreq::parse(with_byte(clean, 24 + 11, 0xff)).value()), clean);
}

TEST(DreqCodec, RefusesCommIdZero) {
  auto mad = mad_of(testing::kDreqFrame);
  std::fill_n(mad.begin() + 24, 4, std::uint8_t{0});
  EXPECT_EQ(Dreq::parse(mad).error(), DecodeErrc::kCommId);

  mad = mad_of(testing::kDreqFrame);
  std::fill_n(mad.begin() + 28, 4, std::uint8_t{0});
  EXPECT_EQ(Dreq::parse(mad).error(), DecodeErrc::kCommId);
}

// Header faults are the header's tests; here only that the parser looks.
TEST(DreqCodec, RefusesAnotherMessage) {
  EXPECT_EQ(Dreq::parse(with_byte(mad_of(testing::kDreqFrame), 17, 0x1f)).error(),
            DecodeErrc::kAttribute);
  EXPECT_EQ(Dreq::parse(with_byte(mad_of(testing::kDreqFrame), 1, 0x03)).error(),
            DecodeErrc::kManagementClass);
}

TEST(DreqCodec, RefusesEveryTruncation) {
  const auto mad = mad_of(testing::kDreqFrame);
  for (std::size_t size = 0; size < mad.size(); ++size)
    EXPECT_EQ(as_mad(std::span(mad).first(size)).error(), DecodeErrc::kLength);
  EXPECT_TRUE(as_mad(mad));
}

}  // namespace
}  // namespace anyrdma::ibcm::wire
