// Real frames of Linux's rxe: decoded, their ICRC checked, and written back byte for byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "verbs/soft/frame.h"
#include "verbs/soft/icrc.h"
#include "verbs/soft/packet.h"
#include "verbs/soft/wire/headers.h"
#include "verbs/soft/wire/pcap.h"

namespace anyrdma::roce {
namespace {

constexpr const char* kFolder = "tests/data/captures";

std::vector<std::uint8_t> read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> captures() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder))
    if (entry.path().extension() == ".pcap") names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

class Capture : public ::testing::TestWithParam<std::string> {
 protected:
  // Calls f(frame, packet) for every RoCE packet and returns how many there were.
  template <class F>
  int for_each_packet(F f) {
    const auto file = read_file(std::filesystem::path(kFolder) / GetParam());
    const auto records = pcap::parse(file);
    EXPECT_TRUE(records.has_value());
    int count = 0;
    if (!records) return count;
    for (const pcap::Record& record : *records) {
      verbs::soft::PacketPtr packet = pool_.take();
      const FrameError error = from_frame(record.frame, *packet);
      if (error == FrameError::kNotIp || error == FrameError::kNotRoce) continue;
      EXPECT_EQ(error, FrameError::kNone);
      ++count;
      f(record.frame, *packet);
    }
    return count;
  }

  verbs::soft::PacketPool pool_;
};

TEST_P(Capture, EveryIcrcIsAsTheKernelSentIt) {
  const int count = for_each_packet([](std::span<const std::uint8_t>, Packet& packet) {
    EXPECT_TRUE(icrc_ok(packet));
    const std::vector<std::uint8_t> sent(packet.payload().begin(), packet.payload().end());
    packet.icrc_valid = false;
    std::fill_n(packet.payload().end() - kIcrcBytes, kIcrcBytes, std::uint8_t{0});
    EXPECT_FALSE(icrc_ok(packet));
    seal(packet);
    EXPECT_TRUE(std::equal(sent.begin(), sent.end(), packet.payload().begin()));
  });
  EXPECT_GT(count, 0);
}

// As if a UDP socket had received the packet.
TEST_P(Capture, IdentificationAndFlagsFollowFromTheIcrc) {
  for_each_packet([](std::span<const std::uint8_t>, Packet& packet) {
    const std::uint16_t identification = packet.ip_identification;
    const std::uint16_t fragment = packet.ip_fragment;
    packet.ip_identification = 0;
    packet.ip_fragment = 0x4000;
    const auto found = hidden_fields_of(packet);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->identification, identification);
    EXPECT_EQ(found->fragment, fragment);
    EXPECT_EQ(icrc_ok(packet), identification == 0);
    packet.ip_fields_hidden = true;
    EXPECT_TRUE(icrc_ok(packet));
    packet.payload()[packet.size / 2] ^= 0x10;
    EXPECT_FALSE(icrc_ok(packet));
  });
}

TEST_P(Capture, EveryFrameIsWrittenBackByteForByte) {
  for_each_packet([](std::span<const std::uint8_t> frame, Packet& packet) {
    Mac destination{}, source{};
    std::copy_n(frame.begin(), 6, destination.begin());
    std::copy_n(frame.begin() + 6, 6, source.begin());
    const auto written = to_frame(packet, source, destination);
    EXPECT_EQ(written, std::vector<std::uint8_t>(frame.begin(), frame.end()));
  });
}

TEST_P(Capture, EveryHeaderIsWrittenBackByteForByte) {
  for_each_packet([](std::span<const std::uint8_t>, Packet& packet) {
    const Decoded decoded = decode(packet.payload());
    ASSERT_EQ(decoded.error, DecodeError::kNone);
    const std::uint8_t opcode = decoded.headers.bth.opcode;
    std::vector<std::uint8_t> written(kHeaderBytes[opcode]);
    encode(decoded.headers, written);
    EXPECT_TRUE(std::equal(written.begin(), written.end(), packet.payload().begin()))
        << kOpcodes[opcode].name;
  });
}

TEST_P(Capture, TheFileIsWrittenBackWithTheSameFramesAndTimes) {
  const auto file = read_file(std::filesystem::path(kFolder) / GetParam());
  const auto records = pcap::parse(file);
  ASSERT_TRUE(records.has_value());
  std::vector<std::uint8_t> copy = pcap::file_header();
  for (const pcap::Record& record : *records) pcap::append(copy, record.time, record.frame);

  const auto again = pcap::parse(copy);

  ASSERT_TRUE(again.has_value());
  ASSERT_EQ(again->size(), records->size());
  for (std::size_t i = 0; i < records->size(); ++i) {
    EXPECT_EQ((*again)[i].time, (*records)[i].time);
    EXPECT_TRUE(std::ranges::equal((*again)[i].frame, (*records)[i].frame));
  }
}

// udaddy sends its buffer back as it got it: what the kernel wrote in front of the datagram is
// there to see, of a packet that is there as well.
TEST(KernelsRoutingHeader, IsTheSameAsOurs) {
  verbs::soft::PacketPool pool;
  const auto file = read_file(std::filesystem::path(kFolder) / "udaddy.pcap");
  const auto records = pcap::parse(file);
  ASSERT_TRUE(records.has_value());
  std::vector<RoutingHeader> seen;
  int compared = 0;
  for (const pcap::Record& record : *records) {
    verbs::soft::PacketPtr packet = pool.take();
    ASSERT_EQ(from_frame(record.frame, *packet), FrameError::kNone);
    const Decoded decoded = decode(packet->payload());
    ASSERT_EQ(decoded.error, DecodeError::kNone);
    if (decoded.headers.bth.opcode != kUdSendOnlyImm) continue;
    seen.push_back(routing_header_of(*packet));
    if (decoded.payload[kRoutingHeaderBytes - kIpv4Bytes] != 0x45) continue;
    const auto echoed = decoded.payload.first<kRoutingHeaderBytes>();
    ++compared;
    EXPECT_EQ(std::count_if(seen.begin(), seen.end(),
                            [&](const auto& each) { return std::ranges::equal(each, echoed); }),
              1);
  }
  EXPECT_GE(compared, 3);
}

INSTANTIATE_TEST_SUITE_P(Kernel, Capture, ::testing::ValuesIn(captures()), [](const auto& param) {
  std::string name = param.param.substr(0, param.param.find('.'));
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == '-' || c == '.'; }, '_');
  return name;
});

}  // namespace
}  // namespace anyrdma::roce
