#include "recording/tape.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "recording/reader.h"
#include "recording/writer.h"

namespace anyrdma::recording {
namespace {

using verbs::Instant;

std::vector<std::string> values_in(std::span<const std::uint8_t> bytes) {
  std::vector<std::string> values;
  Reader reader(bytes);
  Entry entry;
  while (reader.next(entry)) values.emplace_back(entry.texts[1]);
  return values;
}

TEST(Tape, IsReadWhileItIsWritten) {
  const auto tape = std::make_shared<Tape>();
  Writer writer(tape);

  writer.about("a", "first");
  EXPECT_THAT(values_in(tape->bytes()), testing::ElementsAre("first"));

  writer.about("b", "second");
  EXPECT_THAT(values_in(tape->bytes()), testing::ElementsAre("first", "second"));
}

TEST(Tape, KeepsAllWindowsAndGivesThemToAnotherSink) {
  class Shared final : public Sink {
   public:
    explicit Shared(MemorySink& to) : to_(to) {}
    std::span<std::uint8_t> window(std::size_t used) override { return to_.window(used); }
    void finish(std::size_t used) override { to_.finish(used); }

   private:
    MemorySink& to_;
  };
  MemorySink memory(std::size_t{1} << 24);
  const auto tape = std::make_shared<Tape>(std::make_unique<Shared>(memory));
  const auto alone = std::make_shared<Tape>();
  {
    Writer writer(tape);
    Writer other(alone);
    for (int i = 0; i < 40; ++i) {
      const std::string text(kTextBytesMax - 1, static_cast<char>('a' + i % 26));
      writer.about("text", text);
      other.about("text", text);
    }
  }

  EXPECT_EQ(values_in(tape->bytes()).size(), 40u);
  EXPECT_EQ(tape->bytes(), std::vector(memory.bytes().begin(), memory.bytes().end()));
  EXPECT_EQ(alone->bytes(), tape->bytes());
}

}  // namespace
}  // namespace anyrdma::recording
