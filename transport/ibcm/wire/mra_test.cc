#include "transport/ibcm/wire/mra.h"

#include <gtest/gtest.h>

#include "transport/ibcm/wire/captured_frames.h"

namespace anyrdma::ibcm::wire {
namespace {

using testing::bytes_of;
using testing::mad_of;
using testing::with_byte;

// tshark 4.0 names this message but does not dissect it: the values are read from the bytes.
TEST(MraCodec, ReadsTheCapturedFrame) {
  const auto mad = mad_of(testing::kMraFrame);

  const Result<Mra> mra = Mra::parse(mad);

  ASSERT_TRUE(mra);
  EXPECT_EQ(mra->transaction_id, 0x00000002592d3345u);
  EXPECT_EQ(mra->local_comm_id, CommId{0x088e0fca});
  EXPECT_EQ(mra->remote_comm_id, CommId{0x45332d59});
  EXPECT_EQ(mra->message, AnsweredMessage::kReq);
  EXPECT_EQ(mra->service_timeout, 24);
  EXPECT_EQ(mra->private_data.size(), kMraPrivateDataSize);
}

TEST(MraCodec, WritesTheCapturedFrameByteForByte) {
  const auto mad = mad_of(testing::kMraFrame);

  EXPECT_EQ(bytes_of(Mra::parse(mad).value()), mad);
}

TEST(MraCodec, ReadsBackEveryFieldItWrites) {
  const Mra written{.transaction_id = 1,
                    .local_comm_id = CommId{2},
                    .remote_comm_id = CommId{3},
                    .message = AnsweredMessage::kRep,
                    .service_timeout = 31,
                    .private_data = {}};

  const auto mad = bytes_of(written);
  const Result<Mra> read = Mra::parse(mad);

  ASSERT_TRUE(read);
  EXPECT_EQ(read->message, AnsweredMessage::kRep);
  EXPECT_EQ(read->service_timeout, 31);
  EXPECT_EQ(bytes_of(*read), mad);
}

TEST(MraCodec, IgnoresReservedBitsAndSendsThemAsZero) {
  const auto clean = mad_of(testing::kMraFrame);
  const auto mad = with_byte(with_byte(clean, 24 + 8, 0x3f), 24 + 9, 0xc7);

  EXPECT_EQ(bytes_of(Mra::parse(mad).value()), clean);
}

TEST(MraCodec, RefusesAnAnswerToNoMessage) {
  EXPECT_EQ(Mra::parse(with_byte(mad_of(testing::kMraFrame), 24 + 8, 0xc0)).error(),
            DecodeErrc::kMessage);
}

TEST(MraCodec, RefusesCommIdZero) {
  auto mad = mad_of(testing::kMraFrame);
  std::fill_n(mad.begin() + 24, 4, std::uint8_t{0});
  EXPECT_EQ(Mra::parse(mad).error(), DecodeErrc::kCommId);

  mad = mad_of(testing::kMraFrame);
  std::fill_n(mad.begin() + 28, 4, std::uint8_t{0});
  EXPECT_EQ(Mra::parse(mad).error(), DecodeErrc::kCommId);
}

// Header faults are the header's tests; here only that the parser looks.
TEST(MraCodec, RefusesAnotherMessage) {
  EXPECT_EQ(Mra::parse(with_byte(mad_of(testing::kMraFrame), 17, 0x1f)).error(),
            DecodeErrc::kAttribute);
  EXPECT_EQ(Mra::parse(with_byte(mad_of(testing::kMraFrame), 1, 0x03)).error(),
            DecodeErrc::kManagementClass);
}

TEST(MraCodec, RefusesEveryTruncation) {
  const auto mad = mad_of(testing::kMraFrame);
  for (std::size_t size = 0; size < mad.size(); ++size)
    EXPECT_EQ(as_mad(std::span(mad).first(size)).error(), DecodeErrc::kLength);
  EXPECT_TRUE(as_mad(mad));
}

}  // namespace
}  // namespace anyrdma::ibcm::wire
