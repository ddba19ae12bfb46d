#include "transport/soft/cma_header.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace anyrdma::transport::soft {
namespace {

using Bytes = std::array<std::uint8_t, CmaHeader::kSize>;

// From the REQ of tests/data/captures/rping.pcap. tshark: IP CM Major Version 0, IP Version 4,
// Source Port 42506, Source 10.9.0.2, Destination 10.9.0.1.
constexpr Bytes kCaptured{0x00, 0x40, 0xa6, 0x0a, 0,    0,    0,    0,    0,    0,    0,    0,
                          0,    0,    0,    0,    0x0a, 0x09, 0x00, 0x02, 0,    0,    0,    0,
                          0,    0,    0,    0,    0,    0,    0,    0,    0x0a, 0x09, 0x00, 0x01};
const CmaHeader kCapturedValue{Address::ipv4(0x0a090002, 42506), Address::ipv4(0x0a090001)};

CmaHeader ipv6_header() {
  CmaHeader header;
  header.source.family = header.destination.family = AF_INET6;
  header.source.port = 0x1234;
  for (std::size_t i = 0; i < 16; ++i) {
    header.source.ip[i] = static_cast<std::uint8_t>(0x20 + i);
    header.destination.ip[i] = static_cast<std::uint8_t>(0x40 + i);
  }
  return header;
}

TEST(CmaHeader, ReadsWhatLinuxSent) {
  EXPECT_EQ(CmaHeader::parse(kCaptured).value(), kCapturedValue);
}

TEST(CmaHeader, WritesWhatLinuxSent) {
  Bytes bytes;
  bytes.fill(0xff);

  kCapturedValue.serialize(bytes);

  EXPECT_EQ(bytes, kCaptured);
}

TEST(CmaHeader, Ipv6GoesToBytesAndBack) {
  Bytes bytes;

  ipv6_header().serialize(bytes);

  EXPECT_EQ(bytes[1], 0x60);
  EXPECT_EQ(bytes[4], 0x20);
  EXPECT_EQ(bytes[35], 0x4f);
  EXPECT_EQ(CmaHeader::parse(bytes).value(), ipv6_header());
}

TEST(CmaHeader, BytesBehindItAreNotTouchedNorNeeded) {
  std::vector<std::uint8_t> longer(kCaptured.begin(), kCaptured.end());
  longer.resize(92, 0xaa);

  EXPECT_EQ(CmaHeader::parse(longer).value(), kCapturedValue);
}

TEST(CmaHeader, EveryTruncationIsRefused) {
  for (std::size_t size = 0; size < CmaHeader::kSize; ++size) {
    const std::span<const std::uint8_t> cut(kCaptured.data(), size);
    EXPECT_EQ(CmaHeader::parse(cut).error(), make_error_code(HeaderErrc::kLength)) << size;
  }
}

TEST(CmaHeader, EveryOtherVersionIsRefused) {
  Bytes bytes = kCaptured;
  for (int version = 1; version < 256; ++version) {
    bytes[0] = static_cast<std::uint8_t>(version);
    EXPECT_EQ(CmaHeader::parse(bytes).error(), make_error_code(HeaderErrc::kVersion)) << version;
  }
}

TEST(CmaHeader, EveryOtherIpVersionIsRefused) {
  Bytes bytes = kCaptured;
  for (int version = 0; version < 16; ++version) {
    if (version == 4 || version == 6) continue;
    bytes[1] = static_cast<std::uint8_t>(version << 4);
    EXPECT_EQ(CmaHeader::parse(bytes).error(), make_error_code(HeaderErrc::kIpVersion)) << version;
  }
}

TEST(CmaHeader, ReservedBitsAreIgnored) {
  Bytes bytes = kCaptured;
  bytes[1] |= 0x0f;  // the reserved nibble
  bytes[4] = 0xee;   // before the IPv4 source
  bytes[31] = 0xee;  // before the IPv4 destination

  EXPECT_EQ(CmaHeader::parse(bytes).value(), kCapturedValue);
}

TEST(CmaHeader, FuzzSeedsAreSurvived) {
  Bytes seed = kCaptured;
  for (std::size_t i = 0; i < seed.size() * 8; ++i) {
    seed[i / 8] = static_cast<std::uint8_t>(seed[i / 8] ^ (1u << (i % 8)));
    EXPECT_EQ(fuzz_cma_header(seed.data(), seed.size()), 0);
  }
}

TEST(CmaHeader, ReasonsHaveNames) {
  for (const HeaderErrc reason :
       {HeaderErrc::kLength, HeaderErrc::kVersion, HeaderErrc::kIpVersion}) {
    EXPECT_NE(make_error_code(reason).message(), "unknown header error");
  }
}

}  // namespace
}  // namespace anyrdma::transport::soft
