#include "recording/packed.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>

namespace anyrdma::recording {
namespace {

using Buffer = std::array<std::uint8_t, kPackedBytesMax>;

TEST(Packed, AnEntryIsReadAsItWasWritten) {
  Buffer buffer{};
  const std::string data("a\0b", 3);
  const Entry sent = entry_of<EntryKind::kQueued>(0u, 3u, 1u, 8u, -111, 0u, data);
  Entry got;

  ASSERT_TRUE(unpack(std::span(buffer).first(pack(sent, buffer)), got));

  EXPECT_EQ(got.kind, EntryKind::kQueued);
  EXPECT_EQ(got.numbers, sent.numbers);
  EXPECT_EQ(got.signed_number(4), -111);
  EXPECT_EQ(got.texts[0], data);
}

TEST(Packed, ALongTextIsTruncated) {
  Buffer buffer{};
  const std::string text(100'000, 'x');
  Entry got;

  ASSERT_TRUE(unpack(
      std::span(buffer).first(pack(entry_of<EntryKind::kMistake>(0u, text, text), buffer)), got));

  EXPECT_TRUE(text.starts_with(got.texts[1]));
  EXPECT_GT(got.texts[1].size(), 500u);
}

TEST(Packed, AnEntryOfOtherLanesOrMessagesIsRefused) {
  Buffer buffer{};
  Entry got;
  const auto passes = [&](const Entry& entry) {
    return unpack(std::span(buffer).first(pack(entry, buffer)), got);
  };

  EXPECT_TRUE(passes(entry_of<EntryKind::kAcknowledged>(0u, 1u)));
  EXPECT_TRUE(passes(entry_of<EntryKind::kKey>(kPackedDeviceMax, 1u, 1u)));
  EXPECT_EQ(got.numbers[0], kPackedDeviceMax);
  EXPECT_FALSE(passes(entry_of<EntryKind::kKey>(kPackedDeviceMax + 1, 1u, 1u)));
  EXPECT_FALSE(passes(entry_of<EntryKind::kLane>("host", "x", 0u)));
  EXPECT_FALSE(passes(entry_of<EntryKind::kLost>(3u, "x", 0u)));
  EXPECT_FALSE(passes(entry_of<EntryKind::kEnd>("passed", 0u)));
}

TEST(Packed, BytesThatAreNoEntryAreRefused) {
  Buffer buffer{};
  Entry got;
  const std::size_t size = pack(entry_of<EntryKind::kCalled>(0u, 1u, "bind_addr", 0u, 0u), buffer);
  for (std::size_t cut = 0; cut < size; ++cut)
    EXPECT_FALSE(unpack(std::span(buffer).first(cut), got)) << cut;
  EXPECT_FALSE(unpack(std::span(buffer).first(size + 1), got));
  buffer[0] = 200;
  EXPECT_FALSE(unpack(std::span(buffer).first(size), got));
}

}  // namespace
}  // namespace anyrdma::recording
