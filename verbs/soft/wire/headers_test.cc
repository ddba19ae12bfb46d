#include "verbs/soft/wire/headers.h"

#include <gtest/gtest.h>

#include <vector>

namespace anyrdma::roce {
namespace {

std::vector<std::uint8_t> filled(std::size_t size) {
  std::vector<std::uint8_t> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::uint8_t>(i * 37 + 11);
  return bytes;
}

// A datagram of this opcode whose header bits are as varied as the layouts allow.
std::vector<std::uint8_t> datagram_of(std::uint8_t opcode, std::size_t payload) {
  auto bytes = filled(kHeaderBytes[opcode] + payload + kIcrcBytes);
  bytes[0] = opcode;
  bytes[1] = 0x80;
  return bytes;
}

class EveryOpcode : public testing::TestWithParam<int> {};

TEST_P(EveryOpcode, IsDecodedAndEncodedBackToItself) {
  const auto opcode = static_cast<std::uint8_t>(GetParam());
  const OpcodeRow& row = kOpcodes[opcode];
  const auto datagram = datagram_of(opcode, row.payload ? 8 : 0);

  const Decoded decoded = decode(datagram);

  if (row.service == Service::kNone) {
    EXPECT_EQ(decoded.error, DecodeError::kUnknownOpcode);
    return;
  }
  ASSERT_EQ(decoded.error, DecodeError::kNone) << row.name;
  EXPECT_EQ(decoded.payload.size(), row.payload ? 8u : 0u);
  std::vector<std::uint8_t> encoded(kHeaderBytes[opcode]);
  encode(decoded.headers, encoded);
  const Decoded again = decode([&] {
    auto copy = datagram;
    std::copy(encoded.begin(), encoded.end(), copy.begin());
    return copy;
  }());
  std::vector<std::uint8_t> encoded_again(kHeaderBytes[opcode]);
  encode(again.headers, encoded_again);
  EXPECT_EQ(encoded, encoded_again);
  EXPECT_EQ(again.headers.bth, decoded.headers.bth);
  EXPECT_EQ(again.headers.reth, decoded.headers.reth);
  EXPECT_EQ(again.headers.deth, decoded.headers.deth);
  EXPECT_EQ(again.headers.aeth, decoded.headers.aeth);
  EXPECT_EQ(again.headers.atomic, decoded.headers.atomic);
  EXPECT_EQ(again.headers.immediate, decoded.headers.immediate);
}

TEST_P(EveryOpcode, IsRefusedAtEveryTruncation) {
  const auto opcode = static_cast<std::uint8_t>(GetParam());
  if (kOpcodes[opcode].service == Service::kNone) return;  // reserved
  const auto datagram = datagram_of(opcode, 0);
  for (std::size_t size = 0; size < datagram.size(); ++size)
    EXPECT_EQ(decode(std::span(datagram).first(size)).error, DecodeError::kTruncated) << size;
}

INSTANTIATE_TEST_SUITE_P(Headers, EveryOpcode, testing::Range(0, 256));

TEST(Headers, AVersionOtherThanZeroIsRefused) {
  auto datagram = datagram_of(kRcSendOnly, 4);
  datagram[1] |= 0x01;
  EXPECT_EQ(decode(datagram).error, DecodeError::kBadVersion);
}

TEST(Headers, PayloadAfterAnAcknowledgeIsRefused) {
  EXPECT_EQ(decode(datagram_of(kRcAcknowledge, 4)).error, DecodeError::kUnexpectedPayload);
}

TEST(Headers, PaddingIsNotPayload) {
  auto datagram = datagram_of(kRcSendOnly, 8);
  datagram[1] |= 0x30;
  EXPECT_EQ(decode(datagram).payload.size(), 5u);
}

TEST(Headers, MorePaddingThanPayloadIsTruncated) {
  auto datagram = datagram_of(kRcSendOnly, 2);
  datagram[1] |= 0x30;
  EXPECT_EQ(decode(datagram).error, DecodeError::kTruncated);
}

TEST(Headers, ReservedBitsAreIgnoredAndSentAsZero) {
  auto datagram = datagram_of(kRcSendOnly, 4);
  datagram[4] = 0x3f;
  datagram[8] = 0x7f;
  const Decoded decoded = decode(datagram);
  ASSERT_EQ(decoded.error, DecodeError::kNone);
  std::vector<std::uint8_t> encoded(Bth::kBytes, 0xee);
  encode(decoded.headers, encoded);
  EXPECT_EQ(encoded[4], 0);
  EXPECT_EQ(encoded[8], 0);
}

}  // namespace
}  // namespace anyrdma::roce
