// Every CM message that Linux sent in any capture is understood, and written back byte for byte.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include "transport/ibcm/wire/apr.h"
#include "transport/ibcm/wire/drep.h"
#include "transport/ibcm/wire/dreq.h"
#include "transport/ibcm/wire/lap.h"
#include "transport/ibcm/wire/mra.h"
#include "transport/ibcm/wire/rej.h"
#include "transport/ibcm/wire/rep.h"
#include "transport/ibcm/wire/req.h"
#include "transport/ibcm/wire/rtu.h"
#include "transport/ibcm/wire/sidr_rep.h"
#include "transport/ibcm/wire/sidr_req.h"
#include "verbs/soft/wire/pcap.h"

namespace anyrdma::ibcm::wire {
namespace {

constexpr std::size_t kMadAt = 14 + 20 + 8 + 12 + 8;  // Ethernet, IPv4, UDP, BTH, DETH
constexpr std::size_t kDestinationQpAt = 14 + 20 + 8 + 5;

std::vector<std::uint8_t> read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The MAD of a frame to QP1; nothing for other frames.
std::optional<MadView> mad_in(std::span<const std::uint8_t> frame) {
  constexpr std::array<std::uint8_t, 3> kQp1{0, 0, 1};
  if (frame.size() < kMadAt + kMadSize) return std::nullopt;
  if (!std::ranges::equal(frame.subspan(kDestinationQpAt, 3), kQp1)) return std::nullopt;
  return MadView(frame.data() + kMadAt, kMadSize);
}

template <class Message>
bool comes_back_unchanged(MadView mad) {
  const Result<Message> message = Message::parse(mad);
  if (!message) return false;
  std::array<std::uint8_t, kMadSize> written;
  message->serialize(written);
  return std::ranges::equal(written, mad);
}

bool comes_back_unchanged(Attribute attribute, MadView mad) {
  switch (attribute) {
    case Attribute::kReq:
      return comes_back_unchanged<Req>(mad);
    case Attribute::kMra:
      return comes_back_unchanged<Mra>(mad);
    case Attribute::kRej:
      return comes_back_unchanged<Rej>(mad);
    case Attribute::kRep:
      return comes_back_unchanged<Rep>(mad);
    case Attribute::kRtu:
      return comes_back_unchanged<Rtu>(mad);
    case Attribute::kDreq:
      return comes_back_unchanged<Dreq>(mad);
    case Attribute::kDrep:
      return comes_back_unchanged<Drep>(mad);
    case Attribute::kSidrReq:
      return comes_back_unchanged<SidrReq>(mad);
    case Attribute::kSidrRep:
      return comes_back_unchanged<SidrRep>(mad);
    case Attribute::kLap:
      return comes_back_unchanged<Lap>(mad);
    case Attribute::kApr:
      return comes_back_unchanged<Apr>(mad);
  }
  return false;
}

TEST(CmFrames, OfAllCapturesComeBackUnchanged) {
  std::map<Attribute, int> seen;
  for (const auto& entry : std::filesystem::directory_iterator("tests/data/captures")) {
    if (entry.path().extension() != ".pcap") continue;
    const auto file = read_file(entry.path());
    const auto records = roce::pcap::parse(file);
    ASSERT_TRUE(records.has_value()) << entry.path();
    for (const roce::pcap::Record& record : *records) {
      const auto mad = mad_in(record.frame);
      if (!mad) continue;
      const Attribute attribute = MadHeader::parse(*mad).value().attribute;
      EXPECT_TRUE(comes_back_unchanged(attribute, *mad)) << entry.path();
      ++seen[attribute];
    }
  }

  EXPECT_EQ(seen[Attribute::kReq], 13);
  EXPECT_EQ(seen[Attribute::kRej], 5);
  EXPECT_EQ(seen[Attribute::kMra], 1);
  EXPECT_EQ(seen[Attribute::kRep], 8);
  EXPECT_EQ(seen[Attribute::kRtu], 7);
  EXPECT_EQ(seen[Attribute::kDreq], 8);
  EXPECT_EQ(seen[Attribute::kDrep], 8);
  EXPECT_EQ(seen[Attribute::kSidrReq], 1);
  EXPECT_EQ(seen[Attribute::kSidrRep], 1);
  EXPECT_EQ(seen[Attribute::kLap] + seen[Attribute::kApr], 0);  // Linux sends none
}

}  // namespace
}  // namespace anyrdma::ibcm::wire
