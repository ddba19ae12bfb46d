#include "sim/fuzz/fuzz_entries.h"

#include <algorithm>
#include <array>
#include <memory>
#include <span>

#include "check/entry_checkers.h"
#include "recording/packed.h"
#include "recording/reader.h"
#include "recording/writer.h"
#include "sim/points/entry_queue.h"
#include "verbs/assert.h"

namespace anyrdma::sim::fuzz {
namespace {

constexpr std::size_t kPlenty = std::size_t{1} << 24;

/// The lane and the time are the world's.
void record(recording::Writer& writer, check::Checkers& checkers, recording::Entry entry,
            recording::Number lane) {
  entry.numbers[0] = lane;
  writer.write(entry);
  checkers.on_entry(entry);
}

/// What was recorded can be read.
void read(std::span<const std::uint8_t> bytes) {
  recording::Reader reader(bytes);
  recording::Entry entry;
  while (reader.next(entry)) continue;
  CM_ASSERT(reader.problem().empty());
}

}  // namespace

int fuzz_entries(const std::uint8_t* data, std::size_t size) {
  const auto queue = std::make_unique<EntryQueue>();
  // data is null if size is 0, which memcpy does not allow.
  std::copy_n(data, std::min(size, sizeof(EntryQueue)),
              reinterpret_cast<std::uint8_t*>(queue.get()));
  const auto sink = std::make_shared<recording::MemorySink>(kPlenty);
  recording::Writer writer(sink);
  check::Checkers checkers;
  const recording::Number lane = writer.lane({}, "process", "host/program[2]");
  checkers.on_entry(
      recording::entry_of<recording::EntryKind::kLane>("process", "host/program[2]", 0u));
  std::array<std::uint8_t, EntryQueue::kEntryBytesMax> copy{};
  std::uint64_t place = 0;
  std::size_t bytes = 0;
  recording::Entry entry;
  while (queue->take(place, copy, bytes) == EntryQueue::Got::kEntry) {
    CM_ASSERT(place <= EntryQueue::kBytes);
    if (!recording::unpack(std::span(copy).first(bytes), entry)) break;
    record(writer, checkers, entry, lane);
  }
  checkers.finish();
  (void)checkers.findings();
  writer.end({}, "passed", 0);
  read(sink->bytes());
  return 0;
}

}  // namespace anyrdma::sim::fuzz
