#include "transport/ibcm/wire/req.h"

#include <gtest/gtest.h>

#include "transport/ibcm/wire/captured_frames.h"

namespace anyrdma::ibcm::wire {
namespace {

using testing::bytes_of;
using testing::mad_of;
using testing::with_byte;

constexpr Gid kClientGid{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 9, 0, 2};
constexpr Gid kServerGid{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 9, 0, 1};

// What tshark 4.0 prints. It misdraws the flow label and the packet rate (it shifts the first as
// if it had 12 bits and shows its top byte as the second), so those are read from the bytes.
TEST(ReqCodec, ReadsTheCapturedFrameAsTsharkDoes) {
  const auto mad = mad_of(testing::kReqFrame);

  const Result<Req> req = Req::parse(mad);

  ASSERT_TRUE(req);
  EXPECT_EQ(req->transaction_id, 0x00000002592d3347u);
  EXPECT_EQ(req->attribute_modifier, 0u);
  EXPECT_EQ(req->local_comm_id, CommId{0x47332d59});
  EXPECT_EQ(req->vendor_id, 0u);
  EXPECT_EQ(req->service_id, ServiceId{0x01061e6e});
  EXPECT_EQ(req->local_ca_guid, Guid{0x505400fffe000002});
  EXPECT_EQ(req->local_q_key, 0u);
  EXPECT_EQ(req->local_qpn, Qpn{0x12});
  EXPECT_EQ(req->responder_resources, 3);
  EXPECT_EQ(req->initiator_depth, 4);
  EXPECT_EQ(req->remote_cm_response_timeout, 0x14);
  EXPECT_EQ(req->transport_service, 0);
  EXPECT_EQ(req->flow_control, 0);
  EXPECT_EQ(req->starting_psn, Psn(0xe6ce51));
  EXPECT_EQ(req->local_cm_response_timeout, 0x14);
  EXPECT_EQ(req->retry_count, 6);
  EXPECT_EQ(req->partition_key, 0xffff);
  EXPECT_EQ(req->path_mtu, 3);
  EXPECT_EQ(req->rnr_retry_count, 5);
  EXPECT_EQ(req->max_cm_retries, 15);
  EXPECT_EQ(req->srq, 0);
  EXPECT_EQ(req->extended_transport, 0);
}

TEST(ReqCodec, ReadsThePathsOfTheCapturedFrame) {
  const auto mad = mad_of(testing::kReqFrame);

  const Result<Req> req = Req::parse(mad);

  ASSERT_TRUE(req);
  const ReqPath expected{.local_lid = 0xffff,
                         .remote_lid = 0xffff,
                         .local_gid = kClientGid,
                         .remote_gid = kServerGid,
                         .flow_label = 0x238b0,
                         .hop_limit = 0x40,
                         .local_ack_timeout = 0x13};
  EXPECT_EQ(req->primary, expected);
  EXPECT_EQ(req->alternate, ReqPath{});
  ASSERT_EQ(req->private_data.size(), kReqPrivateDataSize);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(req->private_data.data()) + 36, 5),
            "hello");
}

TEST(ReqCodec, WritesTheCapturedFrameByteForByte) {
  const auto mad = mad_of(testing::kReqFrame);

  EXPECT_EQ(bytes_of(Req::parse(mad).value()), mad);
}

Req every_field_different() {
  return {.transaction_id = 0x0102030405060708,
          .attribute_modifier = 0x11223344,
          .local_comm_id = CommId{0xfedcba98},
          .vendor_id = 0xabcdef,
          .service_id = ServiceId{0x8877665544332211},
          .local_ca_guid = Guid{0x1122334455667788},
          .local_q_key = 0x80010000,
          .local_qpn = Qpn{0xfffffe},
          .responder_resources = 0x81,
          .local_eecn = 0x800001,
          .initiator_depth = 0x7e,
          .remote_eecn = 0x7ffffe,
          .remote_cm_response_timeout = 0x1e,
          .transport_service = 3,
          .flow_control = 1,
          .starting_psn = Psn(0x800001),
          .local_cm_response_timeout = 0x11,
          .retry_count = 5,
          .partition_key = 0x8001,
          .path_mtu = 5,
          .rdc_exists = 1,
          .rnr_retry_count = 6,
          .max_cm_retries = 9,
          .srq = 1,
          .extended_transport = 1,
          .primary = {1, 2, kClientGid, kServerGid, 0xfedcb, 0x3e, 7, 8, 9, 1, 0x15},
          .alternate = {3, 4, kServerGid, kClientGid, 0x12345, 0x21, 5, 6, 10, 0, 0x0a},
          .private_data = {}};
}

TEST(ReqCodec, ReadsBackEveryFieldItWrites) {
  const std::array<std::uint8_t, 3> data{7, 8, 9};
  Req written = every_field_different();
  written.private_data = data;

  const auto mad = bytes_of(written);
  const Result<Req> read = Req::parse(mad);

  ASSERT_TRUE(read);
  EXPECT_EQ(read->vendor_id, written.vendor_id);
  EXPECT_EQ(read->local_qpn, written.local_qpn);
  EXPECT_EQ(read->remote_eecn, written.remote_eecn);
  EXPECT_EQ(read->transport_service, 3);
  EXPECT_EQ(read->flow_control, 1);
  EXPECT_EQ(read->retry_count, 5);
  EXPECT_EQ(read->rdc_exists, 1);
  EXPECT_EQ(read->rnr_retry_count, 6);
  EXPECT_EQ(read->extended_transport, 1);
  EXPECT_EQ(read->primary, written.primary);
  EXPECT_EQ(read->alternate, written.alternate);
  EXPECT_EQ(read->private_data[2], 9);
  EXPECT_EQ(read->private_data[3], 0);
  EXPECT_EQ(bytes_of(*read), mad);
}

TEST(ReqCodec, IgnoresReservedBitsAndSendsThemAsZero) {
  const auto clean = mad_of(testing::kReqFrame);
  auto mad = clean;
  mad[24 + 4] = 0xff;  // before the vendor id
  std::fill_n(mad.begin() + 24 + 24, 4, std::uint8_t{0xff});
  mad[24 + 90] |= 0x0f;  // between flow label and packet rate
  mad[24 + 91] |= 0xc0;
  mad[24 + 94] |= 0x07;
  mad[24 + 95] |= 0x07;

  EXPECT_EQ(bytes_of(Req::parse(mad).value()), clean);
}

TEST(ReqCodec, RefusesCommIdZero) {
  auto mad = mad_of(testing::kReqFrame);
  std::fill_n(mad.begin() + 24, 4, std::uint8_t{0});

  EXPECT_EQ(Req::parse(mad).error(), DecodeErrc::kCommId);
}

TEST(ReqCodec, RefusesEveryPathMtuThatDoesNotExist) {
  const auto mad = mad_of(testing::kReqFrame);
  for (unsigned mtu = 0; mtu < 16; ++mtu) {
    const auto changed = with_byte(mad, 24 + 50, static_cast<std::uint8_t>(mtu << 4));
    if (mtu >= 1 && mtu <= 5) {
      EXPECT_TRUE(Req::parse(changed)) << mtu;
    } else {
      EXPECT_EQ(Req::parse(changed).error(), DecodeErrc::kPathMtu) << mtu;
    }
  }
}

TEST(ReqCodec, RefusesEveryTransportThatDoesNotExist) {
  const auto mad = mad_of(testing::kReqFrame);
  for (unsigned service = 0; service < 4; ++service) {
    for (unsigned extended = 0; extended < 8; ++extended) {
      auto changed = with_byte(mad, 24 + 43, static_cast<std::uint8_t>(0xa0 | service << 1));
      changed = with_byte(changed, 24 + 51, static_cast<std::uint8_t>(0xf0 | extended));
      const bool exists = service < 2 || (service == 3 && extended == 1);
      EXPECT_EQ(Req::parse(changed).has_value(), exists) << service << " " << extended;
      if (!exists) {
        EXPECT_EQ(Req::parse(changed).error(), DecodeErrc::kTransportService);
      }
    }
  }
}

// Header faults are the header's tests; here only that the parser looks.
TEST(ReqCodec, RefusesAnotherMessage) {
  EXPECT_EQ(Req::parse(with_byte(mad_of(testing::kReqFrame), 17, 0x1f)).error(),
            DecodeErrc::kAttribute);
  EXPECT_EQ(Req::parse(with_byte(mad_of(testing::kReqFrame), 1, 0x03)).error(),
            DecodeErrc::kManagementClass);
}

TEST(ReqCodec, RefusesEveryTruncation) {
  const auto mad = mad_of(testing::kReqFrame);
  for (std::size_t size = 0; size < mad.size(); ++size)
    EXPECT_EQ(as_mad(std::span(mad).first(size)).error(), DecodeErrc::kLength);
  EXPECT_TRUE(as_mad(mad));
}

}  // namespace
}  // namespace anyrdma::ibcm::wire
