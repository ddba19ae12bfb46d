#include "transport/ibcm/wire/sidr_req.h"

#include <gtest/gtest.h>

#include "transport/ibcm/wire/captured_frames.h"

namespace anyrdma::ibcm::wire {
namespace {

using testing::bytes_of;
using testing::mad_of;
using testing::with_byte;

// Wireshark shows the message as bytes only: the values are read off the specification's table.
TEST(SidrReqCodec, ReadsTheCapturedFrame) {
  const auto mad = mad_of(testing::kSidrReqFrame);

  const Result<SidrReq> request = SidrReq::parse(mad);

  ASSERT_TRUE(request);
  EXPECT_EQ(request->transaction_id, 0x00000002b46089a2u);
  EXPECT_EQ(request->request_id, CommId{0xa28960b4});
  EXPECT_EQ(request->partition_key, 0xffff);
  EXPECT_EQ(request->service_id, ServiceId{0x01111c06});  // RDMA_PS_UDP, port 7174
  ASSERT_EQ(request->private_data.size(), kSidrReqPrivateDataSize);
  EXPECT_EQ(request->private_data[1], 0x40);  // the CM's IP header: IPv4
}

TEST(SidrReqCodec, WritesTheCapturedFrameByteForByte) {
  const auto mad = mad_of(testing::kSidrReqFrame);

  EXPECT_EQ(bytes_of(SidrReq::parse(mad).value()), mad);
}

TEST(SidrReqCodec, ReadsBackEveryFieldItWrites) {
  std::array<std::uint8_t, kSidrReqPrivateDataSize> data;
  data.fill(0xa5);
  const SidrReq written{.transaction_id = 0x8000000000000001,
                        .request_id = CommId{0x80000001},
                        .partition_key = 0x8001,
                        .service_id = ServiceId{0x8000000000000003},
                        .private_data = data};

  const auto mad = bytes_of(written);
  const Result<SidrReq> read = SidrReq::parse(mad);

  ASSERT_TRUE(read);
  EXPECT_EQ(read->transaction_id, written.transaction_id);
  EXPECT_EQ(read->request_id, written.request_id);
  EXPECT_EQ(read->partition_key, written.partition_key);
  EXPECT_EQ(read->service_id, written.service_id);
  EXPECT_TRUE(std::ranges::equal(read->private_data, data));
}

TEST(SidrReqCodec, IgnoresReservedBitsAndSendsThemAsZero) {
  const auto clean = mad_of(testing::kSidrReqFrame);
  const auto mad = with_byte(with_byte(clean, 24 + 6, 0xff), 24 + 7, 0xff);

  EXPECT_EQ(bytes_of(SidrReq::parse(mad).value()), clean);
}

TEST(SidrReqCodec, RefusesRequestIdZero) {
  auto mad = mad_of(testing::kSidrReqFrame);
  std::fill_n(mad.begin() + 24, 4, std::uint8_t{0});

  EXPECT_EQ(SidrReq::parse(mad).error(), DecodeErrc::kCommId);
}

// Header faults are the header's tests; here only that the parser looks.
TEST(SidrReqCodec, RefusesAnotherMessage) {
  EXPECT_EQ(SidrReq::parse(with_byte(mad_of(testing::kSidrReqFrame), 17, 0x10)).error(),
            DecodeErrc::kAttribute);
  EXPECT_EQ(SidrReq::parse(with_byte(mad_of(testing::kSidrReqFrame), 1, 0x03)).error(),
            DecodeErrc::kManagementClass);
}

TEST(SidrReqCodec, RefusesEveryTruncation) {
  const auto mad = mad_of(testing::kSidrReqFrame);
  for (std::size_t size = 0; size < mad.size(); ++size)
    EXPECT_EQ(as_mad(std::span(mad).first(size)).error(), DecodeErrc::kLength);
  EXPECT_TRUE(as_mad(mad));
}

}  // namespace
}  // namespace anyrdma::ibcm::wire
