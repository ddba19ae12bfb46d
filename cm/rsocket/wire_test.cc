// The bytes of rdma-core's protocol, written out.
#include "cm/rsocket/wire.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace anyrdma::rsocket {
namespace {

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> all;
  for (const int value : values) all.push_back(static_cast<std::byte>(value));
  return all;
}

// Version 1, flags, credits, reserved, mappings; then address, key and length of the table of
// targets and of the first buffer, all big endian.
const std::vector<std::byte> kOnTheWire = bytes({
    1,    2,    0x01, 0x80, 0,    0,    0,    0x08,                          //
    0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0xa1, 0xa2, 0xa3, 0xa4,  //
    0,    0,    0,    2,                                                     //
    0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28, 0xb1, 0xb2, 0xb3, 0xb4,  //
    0,    1,    0,    0,
});
const ConnectData kMeant{
    .order = Order::kLittle,
    .maps = true,
    .credits = 384,
    .mappings = 8,
    .targets = {.address = 0x1112131415161718, .key = 0xa1a2a3a4, .length = 2},
    .first = {.address = 0x2122232425262728, .key = 0xb1b2b3b4, .length = 65536}};

TEST(ConnectDataOnTheWire, HasFortyBytesInBigEndian) {
  const auto written = put_connect_data(kMeant);

  EXPECT_TRUE(std::ranges::equal(written, kOnTheWire));
  EXPECT_EQ(get_connect_data(kOnTheWire), kMeant);
}

TEST(ConnectDataOnTheWire, OfRdmaCoreIsUnderstood) {
  // The REP of rstream with rdma-core 44, on Soft-RoCE of Linux 6.1.
  const auto captured =
      bytes({0x01, 0x02, 0x01, 0x80, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x7f, 0x10, 0xe8, 0x00,
             0x30, 0x00, 0x00, 0x00, 0x03, 0x19, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x7f, 0x10,
             0xed, 0x8a, 0x90, 0x00, 0x00, 0x00, 0x04, 0x08, 0x00, 0x08, 0x00, 0x00});

  EXPECT_EQ(get_connect_data(captured),
            (ConnectData{.order = Order::kLittle,
                         .maps = true,
                         .credits = 384,
                         .mappings = 0,
                         .targets = {.address = 0x7f10e8003000, .key = 0x319, .length = 2},
                         .first = {.address = 0x7f10ed8a9000, .key = 0x408, .length = 0x80000}}));
}

TEST(ConnectDataOnTheWire, IsPaddedByTheConnectionManager) {
  auto padded = kOnTheWire;
  padded.resize(56);

  EXPECT_EQ(get_connect_data(padded), kMeant);
}

TEST(ConnectDataOnTheWire, OfAnotherVersionOrTooShortIsRefused) {
  auto other = kOnTheWire;
  other[0] = std::byte{2};

  EXPECT_FALSE(get_connect_data(other));
  EXPECT_FALSE(get_connect_data({}));
  for (std::size_t length = 0; length < kOnTheWire.size(); ++length) {
    EXPECT_FALSE(get_connect_data(std::span(kOnTheWire).first(length))) << length;
  }
}

TEST(ConnectDataOnTheWire, WithATableOfOneTargetIsRefused) {
  auto other = kOnTheWire;
  other[23] = std::byte{1};

  EXPECT_FALSE(get_connect_data(other));
}

TEST(ConnectDataOnTheWire, SaysTheByteOrderOfItsHost) {
  auto other = kOnTheWire;
  other[1] = std::byte{3};

  ASSERT_TRUE(get_connect_data(other));
  EXPECT_EQ(get_connect_data(other)->order, Order::kBig);
}

TEST(ConnectDataOnTheWire, WithoutTheFlagHasNoMappings) {
  auto other = kOnTheWire;
  other[1] = std::byte{0};

  ASSERT_TRUE(get_connect_data(other));
  EXPECT_EQ(get_connect_data(other)->mappings, 0U);
}

TEST(Mappings, AboveAHundredAndTwentyEightCountByTwoHundredAndFiftySix) {
  EXPECT_EQ(expressible_mappings(0), 0U);
  EXPECT_EQ(expressible_mappings(128), 128U);
  EXPECT_EQ(expressible_mappings(256), 256U);
  EXPECT_EQ(expressible_mappings(1000), 768U);
  EXPECT_EQ(expressible_mappings(0xfffe), 127U * 256U);
}

TEST(TargetInATable, HasTheByteOrderOfItsReader) {
  const Target target{.address = 0x0102030405060708, .key = 0x0a0b0c0d, .length = 0x10};
  std::array<std::byte, kTargetSize> entry{};

  put_target(target, Order::kLittle, entry);
  EXPECT_TRUE(std::ranges::equal(
      entry, bytes({8, 7, 6, 5, 4, 3, 2, 1, 0x0d, 0x0c, 0x0b, 0x0a, 0x10, 0, 0, 0})));
  EXPECT_EQ(get_target(entry, Order::kLittle), target);

  put_target(target, Order::kBig, entry);
  EXPECT_TRUE(std::ranges::equal(
      entry, bytes({1, 2, 3, 4, 5, 6, 7, 8, 0x0a, 0x0b, 0x0c, 0x0d, 0, 0, 0, 0x10})));
  EXPECT_EQ(get_target(entry, Order::kBig), target);
}

TEST(MappingInATable, IsAnOffsetAndATarget) {
  const Mapping mapping{.offset = 0x1000, .target = {.address = 0x20, .key = 3, .length = 4}};
  std::array<std::byte, kMappingSize> entry{};

  put_mapping(mapping, Order::kLittle, entry);

  EXPECT_TRUE(
      std::ranges::equal(entry, bytes({0,    0x10, 0, 0, 0, 0, 0, 0,  //
                                       0x20, 0,    0, 0, 0, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0})));
  EXPECT_EQ(get_mapping(entry, Order::kLittle), mapping);
}

TEST(MessageInImmediateData, HasThreeBitsOfKind) {
  EXPECT_EQ(put_message({.kind = Kind::kData, .value = 1000}), 1000U);
  EXPECT_EQ(put_message({.kind = Kind::kCredit, .value = 384}), 0x8000'0180U);
  EXPECT_EQ(put_message({.kind = Kind::kMapping, .value = 1}), 0xc000'0001U);
  EXPECT_EQ(put_message({.kind = Kind::kControl, .value = 2}), 0xe000'0002U);
  for (const std::uint32_t each : {1000U, 0x8000'0180U, 0xc000'0001U, 0xe000'0002U}) {
    ASSERT_TRUE(get_message(each));
    EXPECT_EQ(put_message(*get_message(each)), each);
  }
}

TEST(MessageInImmediateData, OfAReservedKindIsRefused) {
  for (const std::uint32_t kind : {1U, 2U, 3U, 5U}) EXPECT_FALSE(get_message(kind << 29));
}

}  // namespace
}  // namespace anyrdma::rsocket
