#include "transport/ibcm/wire/rej.h"

#include <gtest/gtest.h>

#include "transport/ibcm/wire/captured_frames.h"

namespace anyrdma::ibcm::wire {
namespace {

using testing::bytes_of;
using testing::mad_of;
using testing::with_byte;

TEST(RejCodec, ReadsTheUsersRejectAsTsharkDoes) {
  const auto mad = mad_of(testing::kRejByUserFrame);

  const Result<Rej> rej = Rej::parse(mad);

  ASSERT_TRUE(rej);
  EXPECT_EQ(rej->transaction_id, 0x00000002592d3346u);
  EXPECT_EQ(rej->local_comm_id, CommId{0x0c8e0fca});
  EXPECT_EQ(rej->remote_comm_id, CommId{0x46332d59});
  EXPECT_EQ(rej->message, AnsweredMessage::kReq);
  EXPECT_EQ(rej->reason, 28);
  EXPECT_TRUE(rej->info.empty());
  ASSERT_EQ(rej->private_data.size(), kRejPrivateDataSize);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(rej->private_data.data()), 7),
            "go away");
}

TEST(RejCodec, ReadsTheRejectOfAnUnknownService) {
  const Result<Rej> rej = Rej::parse(mad_of(testing::kRejNoListenerFrame));

  ASSERT_TRUE(rej);
  EXPECT_EQ(rej->local_comm_id, CommId{0});
  EXPECT_EQ(rej->remote_comm_id, CommId{0xa58960b4});
  EXPECT_EQ(rej->message, AnsweredMessage::kReq);
  EXPECT_EQ(rej->reason, 8);
}

TEST(RejCodec, ReadsTheRejectOfAKilledClient) {
  const Result<Rej> rej = Rej::parse(mad_of(testing::kRejByKilledFrame));

  ASSERT_TRUE(rej);
  EXPECT_EQ(rej->local_comm_id, CommId{0xa78960b4});
  EXPECT_EQ(rej->remote_comm_id, CommId{0x75e42c33});
  EXPECT_EQ(rej->message, AnsweredMessage::kRep);
  EXPECT_EQ(rej->reason, 28);
}

TEST(RejCodec, WritesTheCapturedFramesByteForByte) {
  for (const auto frame :
       {testing::kRejByUserFrame, testing::kRejNoListenerFrame, testing::kRejByKilledFrame}) {
    const auto mad = mad_of(frame);
    EXPECT_EQ(bytes_of(Rej::parse(mad).value()), mad);
  }
}

TEST(RejCodec, ReadsBackTheInformationItWrites) {
  const std::array<std::uint8_t, 8> guid{1, 2, 3, 4, 5, 6, 7, 8};
  const Rej written{.transaction_id = 9,
                    .local_comm_id = CommId{1},
                    .message = AnsweredMessage::kOther,
                    .reason = 4,
                    .info = guid,
                    .private_data = {}};

  const auto mad = bytes_of(written);
  const Result<Rej> read = Rej::parse(mad);

  ASSERT_TRUE(read);
  EXPECT_EQ(read->message, AnsweredMessage::kOther);
  EXPECT_EQ(read->reason, 4);
  EXPECT_TRUE(std::ranges::equal(read->info, guid));
  EXPECT_EQ(bytes_of(*read), mad);
}

TEST(RejCodec, IgnoresReservedBitsAndSendsThemAsZero) {
  const auto clean = mad_of(testing::kRejByUserFrame);
  const auto mad = with_byte(with_byte(clean, 24 + 8, 0x3f), 24 + 9, 0x01);

  EXPECT_EQ(bytes_of(Rej::parse(mad).value()), clean);
}

TEST(RejCodec, RefusesAnAnswerToNoMessage) {
  EXPECT_EQ(Rej::parse(with_byte(mad_of(testing::kRejByUserFrame), 24 + 8, 0xc0)).error(),
            DecodeErrc::kMessage);
}

TEST(RejCodec, RefusesInformationLongerThanItsPlace) {
  const auto mad = mad_of(testing::kRejByUserFrame);
  for (unsigned length = 0; length < 128; ++length) {
    const auto changed = with_byte(mad, 24 + 9, static_cast<std::uint8_t>(length << 1));
    EXPECT_EQ(Rej::parse(changed).has_value(), length <= kRejInfoSize) << length;
    if (length > kRejInfoSize) {
      EXPECT_EQ(Rej::parse(changed).error(), DecodeErrc::kInfoLength);
    }
  }
}

// Header faults are the header's tests; here only that the parser looks.
TEST(RejCodec, RefusesAnotherMessage) {
  EXPECT_EQ(Rej::parse(with_byte(mad_of(testing::kRejByUserFrame), 17, 0x1f)).error(),
            DecodeErrc::kAttribute);
  EXPECT_EQ(Rej::parse(with_byte(mad_of(testing::kRejByUserFrame), 1, 0x03)).error(),
            DecodeErrc::kManagementClass);
}

TEST(RejCodec, RefusesEveryTruncation) {
  const auto mad = mad_of(testing::kRejByUserFrame);
  for (std::size_t size = 0; size < mad.size(); ++size)
    EXPECT_EQ(as_mad(std::span(mad).first(size)).error(), DecodeErrc::kLength);
  EXPECT_TRUE(as_mad(mad));
}

}  // namespace
}  // namespace anyrdma::ibcm::wire
