// What a writer writes is what a reader reads, up to wherever the file ends.
#include "recording/reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <iterator>
#include <memory>

#include "recording/writer.h"

namespace anyrdma::recording {
namespace {

using namespace std::chrono_literals;
using verbs::Instant;

constexpr std::size_t kPlenty = std::size_t{1} << 22;

/// One entry of several kinds.
void write_all(Writer& writer) {
  writer.about("seed", "8");
  const Number host = writer.lane(Instant{}, "host", "client");
  const Number other = writer.lane(Instant(1us), "host", "server");
  writer.write<EntryKind::kSent>(Instant(2us), host, other + 1, "gids",
                                 std::string_view("\0packet", 7), 50'000u);
  (void)writer.next_message();
  writer.write<EntryKind::kArrives>(Instant(2us), 0u, 2'000u);
  writer.write<EntryKind::kQueued>(Instant(1us), other, 1u, 0u, 4u, -110, 0u, "");
  writer.write<EntryKind::kLost>(Instant(4us), 0u, "gids", 0u);
  writer.end(Instant(5us), "passed", ~std::uint64_t{0});
}

std::vector<std::uint8_t> a_recording() {
  const auto sink = std::make_shared<MemorySink>(kPlenty);
  Writer writer(sink);
  write_all(writer);
  return {sink->bytes().begin(), sink->bytes().end()};
}

std::vector<Entry> entries(Reader& reader) {
  std::vector<Entry> all;
  Entry entry;
  while (reader.next(entry)) all.push_back(entry);
  return all;
}

TEST(Recording, GivesBackWhatWasWritten) {
  const auto file = a_recording();
  Reader reader(file);
  const auto all = entries(reader);

  EXPECT_EQ(reader.problem(), "");
  EXPECT_FALSE(reader.truncated());
  ASSERT_EQ(all.size(), 8u);
  EXPECT_EQ(all[0].texts[0], "seed");
  EXPECT_EQ(all[2].time, Instant(1us));
  EXPECT_EQ(all[3].numbers[1], 2u);
  EXPECT_EQ(all[3].texts[1], std::string_view("\0packet", 7));
  EXPECT_EQ(all[3].numbers[2], 50'000u);
  EXPECT_EQ(all[5].time, Instant(1us));  // what was only then known of before
  EXPECT_EQ(all[5].signed_number(4), -110);
  EXPECT_EQ(all[6].texts[0], "gids");  // which was written once
  EXPECT_EQ(all[7].numbers[0], ~std::uint64_t{0});
}

TEST(Recording, CutAnywhereIsReadUpToThere) {
  const auto file = a_recording();
  for (std::size_t size = 1; size < file.size(); ++size) {
    Reader whole(file);
    const auto expected = entries(whole);
    Reader cut(std::span<const std::uint8_t>(file.data(), size));
    const auto found = entries(cut);
    EXPECT_TRUE(cut.truncated()) << size;
    EXPECT_EQ(cut.problem(), "") << size;
    ASSERT_LT(found.size(), expected.size()) << size;
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i].kind, expected[i].kind);
  }
}

TEST(Recording, RefusesWhatIsNone) {
  const std::vector<std::uint8_t> nothing;
  EXPECT_THAT(Reader(nothing).problem(), testing::HasSubstr("no recording"));
  const std::vector<std::uint8_t> other{'P', 'K', 3, 4};
  EXPECT_THAT(Reader(other).problem(), testing::HasSubstr("no recording"));
  auto newer = a_recording();
  newer[kMagic.size()] = kVersion + 1;
  Reader reader(newer);
  Entry entry;
  EXPECT_FALSE(reader.next(entry));
  EXPECT_THAT(reader.problem(), testing::HasSubstr("a newer anyrdma wrote it"));
}

TEST(Recording, RefusesReferencesToWhatIsNot) {
  const auto sink = std::make_shared<MemorySink>(kPlenty);
  Writer writer(sink);
  writer.write<EntryKind::kArrives>(Instant{}, 0u, 0u);
  writer.end(Instant{}, "passed", 0);
  Reader reader(sink->bytes());
  EXPECT_TRUE(entries(reader).empty());
  EXPECT_THAT(reader.problem(), testing::HasSubstr("damaged at byte 9"));
}

TEST(Recording, StopsWhereItsSinkTakesNoMore) {
  const auto sink = std::make_shared<MemorySink>(3 * kEntryBytesMax);
  const std::string much(kTextBytesMax, 'x');
  {
    Writer writer(sink);
    for (int i = 0; i < 100; ++i) writer.about("note", much);
    writer.end(Instant{}, "passed", 0);
  }
  Reader reader(sink->bytes());
  EXPECT_GT(entries(reader).size(), 2u);
  EXPECT_TRUE(reader.truncated());
  EXPECT_LE(sink->bytes().size(), 3 * kEntryBytesMax);
}

/// A field whose writer does not live to see it written: no destructor, no flush.
struct Killer {
  operator std::string_view() const { ::_exit(0); }  // NOLINT(google-explicit-constructor)
};

TEST(Recording, OfAProcessThatIsKilledHoldsWhatItHadWritten) {
  const std::string path = ::testing::TempDir() + "killed.recording";
  const pid_t child = ::fork();
  if (child == 0) {
    Writer writer(FileSink::create(path));
    writer.about("seed", "8");
    writer.write<EntryKind::kAbout>(Instant{}, "in the middle of it", Killer{});
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  std::ifstream in(path, std::ios::binary);
  const std::vector<std::uint8_t> file{std::istreambuf_iterator<char>(in), {}};

  Reader reader(file);
  const auto all = entries(reader);

  EXPECT_EQ(reader.problem(), "");
  EXPECT_TRUE(reader.truncated());
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].texts[1], "8");
}

TEST(Recording, InAFileIsAsLongAsWhatIsInIt) {
  const std::string path = ::testing::TempDir() + "whole.recording";
  const std::string much(kTextBytesMax, 'x');
  {
    Writer writer(FileSink::create(path));
    for (int i = 0; i < 100; ++i) writer.about("note", much);  // over several windows
    writer.end(Instant{}, "passed", 7);
  }
  std::ifstream in(path, std::ios::binary);
  const std::vector<std::uint8_t> file{std::istreambuf_iterator<char>(in), {}};
  Reader reader(file);
  const auto all = entries(reader);
  EXPECT_EQ(reader.problem(), "");
  EXPECT_FALSE(reader.truncated());
  ASSERT_EQ(all.size(), 101u);
  EXPECT_EQ(all[99].texts[1], much);
}

}  // namespace
}  // namespace anyrdma::recording
