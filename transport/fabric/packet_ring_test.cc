#include "transport/fabric/packet_ring.h"

#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "transport/realtime/shared_memory.h"

namespace anyrdma::transport::fabric {
namespace {

using verbs::soft::PacketPool;
using verbs::soft::PacketPtr;
using Written = PacketRingWriter::Written;
using Got = PacketRingReader::Got;

class PacketRingTest : public ::testing::Test {
 protected:
  Written write(std::uint8_t mark, std::uint16_t size) {
    PacketPtr packet = pool.take();
    packet->size = size;
    std::memset(packet->storage.data(), mark, size);
    return writer.write(*packet);
  }
  int fill(std::uint16_t size) {
    int count = 0;
    while (write(static_cast<std::uint8_t>(count), size) == Written::kYes) ++count;
    return count;
  }
  Got read() {
    last = pool.take();
    return reader.read(*last);
  }
  packet_ring::Control& control() {
    return *reinterpret_cast<packet_ring::Control*>(theirs.bytes().data());
  }
  std::uint32_t* words() {
    return reinterpret_cast<std::uint32_t*>(theirs.bytes().data() + kRingControlBytes);
  }

  realtime::Descriptor fd;
  realtime::SharedMemory ours = realtime::SharedMemory::create(kRingBytes, fd).value();
  realtime::SharedMemory theirs = realtime::SharedMemory::map(fd.get(), kRingBytes).value();
  PacketPool pool;
  PacketRingWriter writer{ours.bytes()};
  PacketRingReader reader{theirs.bytes()};
  PacketPtr last;
};

TEST_F(PacketRingTest, KeepsOrderOverManyTurnsAndAllSizes) {
  for (std::uint16_t i = 0; i < 3000; ++i) {
    const auto size = static_cast<std::uint16_t>(i * 7 % (verbs::soft::kPacketBytesMax + 1));
    ASSERT_EQ(write(static_cast<std::uint8_t>(i), size), Written::kYes);
    ASSERT_EQ(read(), Got::kPacket);
    ASSERT_EQ(last->size, size);
    if (size == 0) continue;
    ASSERT_EQ(last->storage[size - 1u], static_cast<std::uint8_t>(i));
  }
  EXPECT_EQ(read(), Got::kNothing);
}

TEST_F(PacketRingTest, CarriesTheMarkOfAPacket) {
  const PacketPtr packet = pool.take();
  packet->size = 8;
  packet->mark = 16;
  ASSERT_EQ(writer.write(*packet), Written::kYes);

  ASSERT_EQ(read(), Got::kPacket);
  EXPECT_EQ(last->mark, 16u);
}

TEST_F(PacketRingTest, WhatDoesNotFitGoesOnceThereIsRoom) {
  const int count = fill(4096);
  ASSERT_GT(count, 50);
  writer.wait_for_room();
  ASSERT_EQ(write(0, 4096), Written::kFull);

  bool told = false;
  for (int i = 0; i < count; ++i) {
    ASSERT_EQ(read(), Got::kPacket);
    ASSERT_EQ(last->storage[0], static_cast<std::uint8_t>(i));
    told |= reader.writer_waits();
  }

  EXPECT_TRUE(told);
  EXPECT_EQ(write(0, 4096), Written::kYes);
}

TEST_F(PacketRingTest, TheReaderIsToldOncePerSleep) {
  EXPECT_FALSE(writer.reader_sleeps());

  reader.sleep();

  EXPECT_TRUE(writer.reader_sleeps());
  EXPECT_FALSE(writer.reader_sleeps());
}

// As a process leaves it that is killed in the middle of writing.
TEST_F(PacketRingTest, ARecordThatWasNotPublishedIsNotThere) {
  ASSERT_EQ(write(1, 100), Written::kYes);
  std::memset(words() + 3 * 16 + 1, 0xff, 1000);  // behind the first record's three granules

  EXPECT_EQ(read(), Got::kPacket);
  EXPECT_EQ(read(), Got::kNothing);
}

TEST_F(PacketRingTest, RecordsThatCannotBeEndTheRing) {
  using namespace packet_ring;
  const std::array<std::uint32_t, 5> words_of_strangers{
      1,                            // not published
      kPublished | 4225,            // longer than any packet
      kPublished | kSamePath | 10,  // as in which packet before?
      kPublished | kToTheStart,     // this is the start
      kPublished | kToTheStart | 10};
  for (const std::uint32_t word : words_of_strangers) {
    PacketRingReader victim(theirs.bytes());
    words()[0] = word;
    last = pool.take();
    EXPECT_EQ(victim.read(*last), Got::kBroken) << std::hex << word;
    words()[0] = 0;
    EXPECT_EQ(victim.read(*last), Got::kBroken) << "for ever";
  }
}

TEST_F(PacketRingTest, ARecordMayNotReachBeyondTheEnd) {
  using namespace packet_ring;
  constexpr std::uint16_t kWholeGranules = 4096 - 16 - 32;
  for (std::size_t i = 0; i + 1 < kRingDataBytes / 4096; ++i) {
    ASSERT_EQ(write(1, i == 0 ? kWholeGranules : kWholeGranules + 32), Written::kYes);
    ASSERT_EQ(read(), Got::kPacket);
  }
  words()[(kRingDataBytes - 4096) / 4] = kPublished | kSamePath | 4096;

  EXPECT_EQ(read(), Got::kBroken);
}

TEST_F(PacketRingTest, AReaderThatTookMoreThanThereWasIsNotBelieved) {
  fill(4096);
  control().taken = std::uint64_t{1} << 40;

  EXPECT_EQ(write(0, 4096), Written::kBroken);
}

}  // namespace
}  // namespace anyrdma::transport::fabric
