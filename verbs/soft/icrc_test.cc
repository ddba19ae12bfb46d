// The ICRC of packets whose IP header is not fully known.
#include "verbs/soft/icrc.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "verbs/soft/frame.h"
#include "verbs/soft/wire/crc32.h"

namespace anyrdma::roce {
namespace {

using verbs::soft::PacketPool;
using verbs::soft::PacketPtr;

ibv_gid gid(std::uint8_t last, bool v4) {
  ibv_gid result{};
  result.raw[0] = v4 ? 0 : 0xfd;
  result.raw[10] = result.raw[11] = v4 ? 0xff : 0;
  result.raw[12] = 10;
  result.raw[15] = last;
  return result;
}

PacketPtr sealed(PacketPool& pool, std::uint16_t size, std::uint16_t identification,
                 std::uint16_t fragment, bool v4 = true) {
  PacketPtr packet = pool.take();
  packet->source = gid(1, v4);
  packet->destination = gid(2, v4);
  packet->udp_source_port = 4791;
  packet->size = size;
  for (std::size_t i = 0; i < size; ++i) packet->storage[i] = static_cast<std::uint8_t>(i * 7);
  packet->ip_identification = identification;
  packet->ip_fragment = fragment;
  seal(*packet);
  return packet;
}

/// As a UDP socket shows it.
void hide(Packet& packet) {
  packet.ip_identification = 0;
  packet.ip_fragment = 0x4000;
  packet.ip_fields_hidden = true;
}

TEST(Crc32, TheCauseOfADifferenceIsFoundAtEveryDistance) {
  std::vector<std::uint8_t> bytes(5000, 0x5a);
  const std::uint32_t before = crc32_update(0xffffffff, bytes);
  for (const std::size_t distance : {4u, 5u, 31u, 32u, 1077u, 4095u, 4096u, 5000u}) {
    std::vector<std::uint8_t> changed = bytes;
    std::uint8_t* const at = changed.data() + changed.size() - distance;
    at[0] ^= 0x12;
    at[1] ^= 0x34;
    at[3] ^= 0x80;
    const std::uint32_t difference = before ^ crc32_update(0xffffffff, changed);
    EXPECT_EQ(crc32_cause(difference, distance), 0x80003412u) << distance;
  }
}

TEST(HiddenFields, AreFoundForPacketsOfEverySize) {
  PacketPool pool;
  for (std::uint16_t size = 16; size <= verbs::soft::kPacketBytesMax; ++size) {
    for (const std::uint16_t fragment : std::to_array<std::uint16_t>({0x4000, 0})) {
      const auto identification = static_cast<std::uint16_t>(size * 40503u);
      const PacketPtr packet = sealed(pool, size, identification, fragment);
      hide(*packet);
      const auto found = hidden_fields_of(*packet);
      ASSERT_TRUE(found.has_value()) << size;
      ASSERT_EQ(found->identification, identification);
      ASSERT_EQ(found->fragment, fragment);
    }
  }
}

TEST(HiddenFields, APacketThatIsAFragmentIsRefused) {
  PacketPool pool;
  for (const std::uint16_t fragment : std::to_array<std::uint16_t>({0x2000, 1, 0x8000, 0x6000})) {
    const PacketPtr packet = sealed(pool, 64, 7, fragment);
    hide(*packet);
    EXPECT_FALSE(icrc_ok(*packet)) << fragment;
  }
}

TEST(HiddenFields, OfThousandsOfDamagedBitsAllButOneAreNoticed) {
  PacketPool pool;
  const PacketPtr packet = sealed(pool, 300, 0xbeef, 0x4000);
  hide(*packet);
  int unnoticed = 0;
  for (std::size_t bit = 0; bit < std::size_t{packet->size} * 8; ++bit) {
    if (bit / 8 == 4) continue;  // congestion bits are not covered
    const auto mask = static_cast<std::uint8_t>(1u << bit % 8);
    packet->storage[bit / 8] ^= mask;
    unnoticed += icrc_ok(*packet) ? 1 : 0;
    packet->storage[bit / 8] ^= mask;
  }
  EXPECT_LE(unnoticed, 1);  // of 2392: one in 2^15 looks like another identification
  EXPECT_TRUE(icrc_ok(*packet));
}

TEST(HiddenFields, RandomBytesPassOnceInManyThousand) {
  PacketPool pool;
  std::mt19937 random(4791);
  const PacketPtr packet = sealed(pool, 64, 1, 0x4000);
  hide(*packet);
  int passed = 0;
  for (int i = 0; i < 200'000; ++i) {
    const std::uint32_t icrc = static_cast<std::uint32_t>(random());
    std::memcpy(packet->storage.data() + 60, &icrc, sizeof icrc);
    passed += icrc_ok(*packet) ? 1 : 0;
  }
  EXPECT_GT(passed, 0);
  EXPECT_LT(passed, 20);  // 200'000 / 2^15 is 6
}

TEST(HiddenFields, Ipv6HasNone) {
  PacketPool pool;
  const PacketPtr packet = sealed(pool, 64, 0, 0, false);
  hide(*packet);
  EXPECT_TRUE(icrc_ok(*packet));
  packet->storage[20] ^= 1;
  EXPECT_FALSE(icrc_ok(*packet));
}

TEST(HiddenFields, ATooShortPacketIsRefused) {
  PacketPool pool;
  for (std::uint16_t size = 0; size < 16; ++size) {
    const PacketPtr packet = sealed(pool, size, 0, 0x4000);
    hide(*packet);
    EXPECT_FALSE(icrc_ok(*packet)) << size;
  }
}

}  // namespace
}  // namespace anyrdma::roce
