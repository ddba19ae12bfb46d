#include "transport/ibcm/wire/lap.h"

#include <gtest/gtest.h>

#include "transport/ibcm/wire/captured_frames.h"

namespace anyrdma::ibcm::wire {
namespace {

using testing::bytes_of;
using testing::mad_of;
using testing::with_byte;

// Linux sends none, so there is none to capture: written by hand after IBTA vol 1, table 115.
constexpr std::string_view kLapFrame =
    "01070203000000000000000200000001001900000000000011111111222222220000000000001298"
    "00000000"
    "00010002"
    "00000000000000000000ffff0a09000200000000000000000000ffff0a090001"
    "abcde0774003"
    "50906869";

TEST(LapCodec, ReadsEveryFieldOfTheTable) {
  const auto mad = mad_of(kLapFrame);

  const Result<Lap> lap = Lap::parse(mad);

  ASSERT_TRUE(lap);
  EXPECT_EQ(lap->transaction_id, 0x0000000200000001u);
  EXPECT_EQ(lap->local_comm_id, CommId{0x11111111});
  EXPECT_EQ(lap->remote_comm_id, CommId{0x22222222});
  EXPECT_EQ(lap->remote_qpn, Qpn{0x12});
  EXPECT_EQ(lap->remote_cm_response_timeout, 19);
  EXPECT_EQ(lap->alternate.local_lid, 1);
  EXPECT_EQ(lap->alternate.remote_lid, 2);
  EXPECT_EQ(lap->alternate.local_gid[15], 2);
  EXPECT_EQ(lap->alternate.remote_gid[15], 1);
  EXPECT_EQ(lap->alternate.flow_label, 0xabcdeu);
  EXPECT_EQ(lap->alternate.traffic_class, 0x77);
  EXPECT_EQ(lap->alternate.hop_limit, 0x40);
  EXPECT_EQ(lap->alternate.packet_rate, 3);
  EXPECT_EQ(lap->alternate.service_level, 5);
  EXPECT_EQ(lap->alternate.subnet_local, 0);
  EXPECT_EQ(lap->alternate.local_ack_timeout, 18);
  ASSERT_EQ(lap->private_data.size(), kLapPrivateDataSize);
  EXPECT_EQ(lap->private_data[0], 'h');
}

TEST(LapCodec, WritesTheFrameByteForByte) {
  const auto mad = mad_of(kLapFrame);

  EXPECT_EQ(bytes_of(Lap::parse(mad).value()), mad);
}

TEST(LapCodec, ReadsBackTheLargestValues) {
  std::array<std::uint8_t, kLapPrivateDataSize> data;
  data.fill(0xa5);
  const Lap written{.transaction_id = ~std::uint64_t{0},
                    .local_comm_id = CommId{0xffffffff},
                    .remote_comm_id = CommId{0xfffffffe},
                    .remote_qpn = Qpn{0xffffff},
                    .remote_cm_response_timeout = 31,
                    .alternate = {.local_lid = 0xffff,
                                  .remote_lid = 0xfffe,
                                  .local_gid = {0xff, 1},
                                  .remote_gid = {0xff, 2},
                                  .flow_label = 0xfffff,
                                  .packet_rate = 63,
                                  .traffic_class = 255,
                                  .hop_limit = 255,
                                  .service_level = 15,
                                  .subnet_local = 1,
                                  .local_ack_timeout = 31},
                    .private_data = data};

  const auto mad = bytes_of(written);
  const Result<Lap> read = Lap::parse(mad);

  ASSERT_TRUE(read);
  EXPECT_EQ(read->transaction_id, written.transaction_id);
  EXPECT_EQ(read->local_comm_id, written.local_comm_id);
  EXPECT_EQ(read->remote_comm_id, written.remote_comm_id);
  EXPECT_EQ(read->remote_qpn, written.remote_qpn);
  EXPECT_EQ(read->remote_cm_response_timeout, written.remote_cm_response_timeout);
  EXPECT_EQ(read->alternate, written.alternate);
  EXPECT_TRUE(std::ranges::equal(read->private_data, data));
}

TEST(LapCodec, IgnoresReservedBitsAndSendsThemAsZero) {
  const auto clean = mad_of(kLapFrame);
  auto mad = with_byte(with_byte(clean, 24 + 8, 0xff), 24 + 16, 0xff);
  mad[24 + 15] |= 0x07;
  mad[24 + 58] |= 0x0f;
  mad[24 + 61] |= 0xc0;
  mad[24 + 62] |= 0x07;
  mad[24 + 63] |= 0x07;

  EXPECT_EQ(bytes_of(Lap::parse(mad).value()), clean);
}

TEST(LapCodec, RefusesCommIdZero) {
  for (const std::ptrdiff_t at : {24, 28}) {
    auto mad = mad_of(kLapFrame);
    std::fill_n(mad.begin() + at, 4, std::uint8_t{0});
    EXPECT_EQ(Lap::parse(mad).error(), DecodeErrc::kCommId);
  }
}

// Header faults are the header's tests; here only that the parser looks.
TEST(LapCodec, RefusesAnotherMessage) {
  EXPECT_EQ(Lap::parse(with_byte(mad_of(kLapFrame), 17, 0x1a)).error(), DecodeErrc::kAttribute);
  EXPECT_EQ(Lap::parse(with_byte(mad_of(kLapFrame), 1, 0x03)).error(),
            DecodeErrc::kManagementClass);
}

TEST(LapCodec, RefusesEveryTruncation) {
  const auto mad = mad_of(kLapFrame);
  for (std::size_t size = 0; size < mad.size(); ++size)
    EXPECT_EQ(as_mad(std::span(mad).first(size)).error(), DecodeErrc::kLength);
  EXPECT_TRUE(as_mad(mad));
}

}  // namespace
}  // namespace anyrdma::ibcm::wire
