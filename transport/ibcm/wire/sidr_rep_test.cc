#include "transport/ibcm/wire/sidr_rep.h"

#include <gtest/gtest.h>

#include "transport/ibcm/wire/captured_frames.h"

namespace anyrdma::ibcm::wire {
namespace {

using testing::bytes_of;
using testing::mad_of;
using testing::with_byte;

// Wireshark shows the message as bytes only: the values are read off the specification's table.
TEST(SidrRepCodec, ReadsTheCapturedFrame) {
  const auto mad = mad_of(testing::kSidrRepFrame);

  const Result<SidrRep> reply = SidrRep::parse(mad);

  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->transaction_id, 0x00000002b46089a2u);
  EXPECT_EQ(reply->attribute_modifier, 0u);
  EXPECT_EQ(reply->request_id, CommId{0xa28960b4});
  EXPECT_EQ(reply->status, 0);
  EXPECT_EQ(reply->vendor_id, 0u);
  EXPECT_EQ(reply->qpn, Qpn{0x14});
  EXPECT_EQ(reply->service_id, ServiceId{0x01111c06});
  EXPECT_EQ(reply->q_key, 0x01234567u);
  EXPECT_TRUE(reply->info.empty());
  EXPECT_EQ(reply->private_data.size(), kSidrRepPrivateDataSize);
}

TEST(SidrRepCodec, WritesTheCapturedFrameByteForByte) {
  const auto mad = mad_of(testing::kSidrRepFrame);

  EXPECT_EQ(bytes_of(SidrRep::parse(mad).value()), mad);
}

TEST(SidrRepCodec, ReadsBackEveryFieldItWrites) {
  std::array<std::uint8_t, kSidrRepPrivateDataSize> data;
  data.fill(0xa5);
  std::array<std::uint8_t, kSidrRepInfoSize> info;
  info.fill(0x5a);
  const SidrRep written{.transaction_id = 0x8000000000000001,
                        .attribute_modifier = 0x80000002,
                        .request_id = CommId{0x80000003},
                        .status = 5,
                        .vendor_id = 0x800001,
                        .qpn = Qpn{0xfffffe},
                        .service_id = ServiceId{0x8000000000000004},
                        .q_key = 0x80000005,
                        .info = info,
                        .private_data = data};

  const auto mad = bytes_of(written);
  const Result<SidrRep> read = SidrRep::parse(mad);

  ASSERT_TRUE(read);
  EXPECT_EQ(read->transaction_id, written.transaction_id);
  EXPECT_EQ(read->attribute_modifier, written.attribute_modifier);
  EXPECT_EQ(read->request_id, written.request_id);
  EXPECT_EQ(read->status, written.status);
  EXPECT_EQ(read->vendor_id, written.vendor_id);
  EXPECT_EQ(read->qpn, written.qpn);
  EXPECT_EQ(read->service_id, written.service_id);
  EXPECT_EQ(read->q_key, written.q_key);
  EXPECT_TRUE(std::ranges::equal(read->info, info));
  EXPECT_TRUE(std::ranges::equal(read->private_data, data));
}

TEST(SidrRepCodec, RefusesRequestIdZero) {
  auto mad = mad_of(testing::kSidrRepFrame);
  std::fill_n(mad.begin() + 24, 4, std::uint8_t{0});

  EXPECT_EQ(SidrRep::parse(mad).error(), DecodeErrc::kCommId);
}

TEST(SidrRepCodec, RefusesInformationLongerThanItsPlace) {
  const auto mad = mad_of(testing::kSidrRepFrame);
  for (unsigned length = 0; length < 256; ++length) {
    const auto changed = with_byte(mad, 24 + 5, static_cast<std::uint8_t>(length));
    EXPECT_EQ(SidrRep::parse(changed).has_value(), length <= kSidrRepInfoSize) << length;
    if (length > kSidrRepInfoSize) {
      EXPECT_EQ(SidrRep::parse(changed).error(), DecodeErrc::kInfoLength);
    }
  }
}

// The kernel hands unknown ones up like any other.
TEST(SidrRepCodec, GivesEveryStatus) {
  for (unsigned status = 0; status < 256; ++status) {
    const auto mad =
        with_byte(mad_of(testing::kSidrRepFrame), 24 + 4, static_cast<std::uint8_t>(status));
    EXPECT_EQ(SidrRep::parse(mad).value().status, status);
  }
}

// Header faults are the header's tests; here only that the parser looks.
TEST(SidrRepCodec, RefusesAnotherMessage) {
  EXPECT_EQ(SidrRep::parse(with_byte(mad_of(testing::kSidrRepFrame), 17, 0x17)).error(),
            DecodeErrc::kAttribute);
  EXPECT_EQ(SidrRep::parse(with_byte(mad_of(testing::kSidrRepFrame), 1, 0x03)).error(),
            DecodeErrc::kManagementClass);
}

TEST(SidrRepCodec, RefusesEveryTruncation) {
  const auto mad = mad_of(testing::kSidrRepFrame);
  for (std::size_t size = 0; size < mad.size(); ++size)
    EXPECT_EQ(as_mad(std::span(mad).first(size)).error(), DecodeErrc::kLength);
  EXPECT_TRUE(as_mad(mad));
}

}  // namespace
}  // namespace anyrdma::ibcm::wire
