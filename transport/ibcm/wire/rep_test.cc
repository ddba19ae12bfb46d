#include "transport/ibcm/wire/rep.h"

#include <gtest/gtest.h>

#include "transport/ibcm/wire/captured_frames.h"

namespace anyrdma::ibcm::wire {
namespace {

using testing::bytes_of;
using testing::mad_of;
using testing::with_byte;

TEST(RepCodec, ReadsTheCapturedFrameAsTsharkDoes) {
  const auto mad = mad_of(testing::kRepFrame);

  const Result<Rep> rep = Rep::parse(mad);

  ASSERT_TRUE(rep);
  EXPECT_EQ(rep->transaction_id, 0x00000002592d3347u);
  EXPECT_EQ(rep->local_comm_id, CommId{0x0f8e0fca});
  EXPECT_EQ(rep->remote_comm_id, CommId{0x47332d59});
  EXPECT_EQ(rep->local_q_key, 0u);
  EXPECT_EQ(rep->local_qpn, Qpn{0x11});
  EXPECT_EQ(rep->vendor_id, 0u);
  EXPECT_EQ(rep->local_eecn, 0u);
  EXPECT_EQ(rep->starting_psn, Psn(0x34cdbf));
  EXPECT_EQ(rep->responder_resources, 2);
  EXPECT_EQ(rep->initiator_depth, 1);
  EXPECT_EQ(rep->target_ack_delay, 15);
  EXPECT_EQ(rep->failover_accepted, 0);
  EXPECT_EQ(rep->flow_control, 0);
  EXPECT_EQ(rep->rnr_retry_count, 0);
  EXPECT_EQ(rep->srq, 0);
  EXPECT_EQ(rep->local_ca_guid, Guid{0x505400fffe000001});
  ASSERT_EQ(rep->private_data.size(), kRepPrivateDataSize);
  EXPECT_EQ(std::string_view(reinterpret_cast<const char*>(rep->private_data.data()), 7),
            "welcome");
}

TEST(RepCodec, WritesTheCapturedFrameByteForByte) {
  const auto mad = mad_of(testing::kRepFrame);

  EXPECT_EQ(bytes_of(Rep::parse(mad).value()), mad);
}

TEST(RepCodec, ReadsBackEveryFieldItWrites) {
  const Rep written{.transaction_id = 1,
                    .attribute_modifier = 2,
                    .local_comm_id = CommId{3},
                    .remote_comm_id = CommId{4},
                    .local_q_key = 5,
                    .local_qpn = Qpn{0xfffffe},
                    .vendor_id = 0xabcdef,
                    .local_eecn = 0x800001,
                    .starting_psn = Psn(0x7ffffe),
                    .responder_resources = 6,
                    .initiator_depth = 7,
                    .target_ack_delay = 0x15,
                    .failover_accepted = 2,
                    .flow_control = 1,
                    .rnr_retry_count = 5,
                    .srq = 1,
                    .local_ca_guid = Guid{0x8000000000000001},
                    .private_data = {}};

  const auto mad = bytes_of(written);
  const Result<Rep> read = Rep::parse(mad);

  ASSERT_TRUE(read);
  EXPECT_EQ(read->local_qpn, written.local_qpn);
  EXPECT_EQ(read->vendor_id, written.vendor_id);
  EXPECT_EQ(read->local_eecn, written.local_eecn);
  EXPECT_EQ(read->starting_psn, written.starting_psn);
  EXPECT_EQ(read->target_ack_delay, 0x15);
  EXPECT_EQ(read->failover_accepted, 2);
  EXPECT_EQ(read->flow_control, 1);
  EXPECT_EQ(read->rnr_retry_count, 5);
  EXPECT_EQ(read->srq, 1);
  EXPECT_EQ(read->local_ca_guid, written.local_ca_guid);
  EXPECT_EQ(bytes_of(*read), mad);
}

TEST(RepCodec, IgnoresReservedBitsAndSendsThemAsZero) {
  const auto clean = mad_of(testing::kRepFrame);

  EXPECT_EQ(bytes_of(Rep::parse(with_byte(clean, 24 + 27, 0x0f)).value()), clean);
}

TEST(RepCodec, RefusesCommIdZero) {
  auto mad = mad_of(testing::kRepFrame);
  std::fill_n(mad.begin() + 24, 4, std::uint8_t{0});
  EXPECT_EQ(Rep::parse(mad).error(), DecodeErrc::kCommId);

  mad = mad_of(testing::kRepFrame);
  std::fill_n(mad.begin() + 28, 4, std::uint8_t{0});
  EXPECT_EQ(Rep::parse(mad).error(), DecodeErrc::kCommId);
}

// Header faults are the header's tests; here only that the parser looks.
TEST(RepCodec, RefusesAnotherMessage) {
  EXPECT_EQ(Rep::parse(with_byte(mad_of(testing::kRepFrame), 17, 0x1f)).error(),
            DecodeErrc::kAttribute);
  EXPECT_EQ(Rep::parse(with_byte(mad_of(testing::kRepFrame), 1, 0x03)).error(),
            DecodeErrc::kManagementClass);
}

TEST(RepCodec, RefusesEveryTruncation) {
  const auto mad = mad_of(testing::kRepFrame);
  for (std::size_t size = 0; size < mad.size(); ++size)
    EXPECT_EQ(as_mad(std::span(mad).first(size)).error(), DecodeErrc::kLength);
  EXPECT_TRUE(as_mad(mad));
}

}  // namespace
}  // namespace anyrdma::ibcm::wire
