#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>

#include "sim/debug/protocol/hex.h"
#include "sim/debug/protocol/packet.h"
#include "sim/debug/protocol/request.h"

namespace anyrdma::sim::debug {
namespace {

using Kind = Incoming::Kind;

TEST(Packet, IsFramedWithItsChecksum) {
  EXPECT_EQ(framed("OK"), "$OK#9a");
  EXPECT_EQ(framed(""), "$#00");
}

TEST(Packet, WithBytesOfTheFrameInItComesBackAsItWas) {
  const std::string payload("a$b#c}d*e\0f\x03", 11);
  PacketReader reader;
  reader.append(framed(payload));
  const auto packet = reader.next();
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->kind, Kind::kPacket);
  EXPECT_EQ(packet->payload, payload);
  EXPECT_FALSE(reader.next());
}

TEST(Packet, ThatComesInPiecesIsTakenOnceItIsWhole) {
  PacketReader reader;
  for (const char c : std::string("+$qC#b")) {
    reader.append({&c, 1});
    EXPECT_FALSE(reader.next());
  }
  reader.append("4");
  EXPECT_EQ(reader.next()->payload, "qC");
}

TEST(Packet, WithAWrongChecksumIsDamaged) {
  PacketReader reader;
  reader.append("$qC#b5$qC#zz");
  EXPECT_EQ(reader.next()->kind, Kind::kDamaged);
  EXPECT_EQ(reader.next()->kind, Kind::kDamaged);
}

TEST(Packet, WithoutEndIsGivenUp) {
  PacketReader reader;
  reader.append("$" + std::string(PacketReader::kPayloadMax + 10, 'a'));
  EXPECT_EQ(reader.next()->kind, Kind::kDamaged);
  reader.append("$qC#b4");
  EXPECT_EQ(reader.next()->payload, "qC");
}

TEST(PacketReader, FindsInterruptsAndRepeatsBetweenNonsense) {
  PacketReader reader;
  reader.append("ab+\x03-$g#67");
  EXPECT_EQ(reader.next()->kind, Kind::kInterrupt);
  EXPECT_EQ(reader.next()->kind, Kind::kRepeat);
  EXPECT_EQ(reader.next()->payload, "g");
}

TEST(Hex, OfOddLengthOrWithOtherLettersIsRefused) {
  EXPECT_EQ(from_hex("4f4B"), "OK");
  EXPECT_FALSE(from_hex("4"));
  EXPECT_FALSE(from_hex("4g"));
  EXPECT_FALSE(Scanner("00000000000000001").take_number());
  EXPECT_FALSE(Scanner("").take_number());
}

TEST(ThreadId, HasAProcessOrNone) {
  EXPECT_EQ(parse_thread_id("p2.1f"), (ThreadId{2, 31}));
  EXPECT_EQ(parse_thread_id("p-1"), (ThreadId{-1, -1}));
  EXPECT_EQ(parse_thread_id("0"), (ThreadId{0, 0}));
  EXPECT_EQ(to_text({18, -1}), "p12.-1");
  for (const char* text : {"", "p", "p1.", "x", "p1.2.3", "p123456789.1", "-2"})
    EXPECT_FALSE(parse_thread_id(text)) << text;
}

TEST(ThreadId, MatchesByProcess) {
  EXPECT_TRUE(matches({2, -1}, {2, 7}));
  EXPECT_FALSE(matches({2, -1}, {3, 7}));
  EXPECT_TRUE(matches({-1, -1}, {3, 7}));
  EXPECT_FALSE(matches({3, 8}, {3, 7}));
}

TEST(Actions, StepContinueAndRange) {
  const auto actions = parse_actions("S0b:p1.2;r10,20:p1.3;c");
  ASSERT_TRUE(actions);
  ASSERT_EQ(actions->size(), 3u);
  EXPECT_TRUE((*actions)[0].step);
  EXPECT_EQ((*actions)[0].signal, 11);
  EXPECT_EQ((*actions)[0].whose, (ThreadId{1, 2}));
  EXPECT_EQ((*actions)[1].begin, 0x10u);
  EXPECT_EQ((*actions)[1].end, 0x20u);
  EXPECT_FALSE((*actions)[2].step);
  for (const char* text : {"", "x", "C", "Cfff", "r10", "r10,", "c:", "cc", "s:p1.2;"}) {
    const bool valid = std::string_view(text) == "s:p1.2;";
    EXPECT_EQ(parse_actions(text).has_value(), valid) << text;
  }
}

TEST(Requests, ThatAreInvalidAreRefused) {
  EXPECT_EQ(parse_point("0,401000,1"), (Point{Point::Kind::kCode, 0x401000, 1}));
  EXPECT_EQ(parse_point("2,10,8;X1,0")->kind, Point::Kind::kWrite);
  for (const char* text : {"", "5,0,1", "0,1", "0,1,", "0,1,2x"})
    EXPECT_FALSE(parse_point(text)) << text;
  EXPECT_EQ(parse_memory("10,2:abcd")->data, "abcd");
  for (const char* text : {"", "10", "10,", "10,2x"}) EXPECT_FALSE(parse_memory(text)) << text;
  EXPECT_EQ(parse_transfer("auxv:read::10,20")->offset, 0x10u);
  EXPECT_EQ(parse_transfer("exec-file:read:2:0,20")->annex, "2");
  for (const char* text : {"", "auxv", "auxv:write::0,1", "auxv:read:0,1", "auxv:read::0,"})
    EXPECT_FALSE(parse_transfer(text)) << text;
}

TEST(Transfer, SaysWhichPartIsTheLast) {
  EXPECT_EQ(part_of("abcdef", {.offset = 0, .length = 4}), "mabcd");
  EXPECT_EQ(part_of("abcdef", {.offset = 4, .length = 4}), "lef");
  EXPECT_EQ(part_of("abcdef", {.offset = ~std::uint64_t{0}, .length = 4}), "l");
}

TEST(Signals, HaveOneNumberInEachWorld) {
  for (int signal = 1; signal <= 64; ++signal) {
    if (signal == SIGSTKFLT) continue;  // gdb has none
    EXPECT_NE(gdb_signal(signal), 0) << signal;
    EXPECT_EQ(linux_signal(gdb_signal(signal)), signal);
  }
  EXPECT_EQ(gdb_signal(SIGUSR1), 30);
  EXPECT_EQ(linux_signal(0), 0);
}

}  // namespace
}  // namespace anyrdma::sim::debug
