#include "recording/fuzz/fuzz_recording.h"

#include <memory>
#include <span>
#include <string>

#include "recording/view/json.h"
#include "recording/view/merge.h"
#include "recording/view/process_file.h"
#include "recording/view/story.h"
#include "recording/view/text.h"
#include "verbs/assert.h"

namespace anyrdma::recording::fuzz {

namespace {

constexpr std::size_t kPlenty = std::size_t{1} << 24;

/// The file beside itself: what is written can be read.
void merge_with_itself(std::span<const std::uint8_t> bytes) {
  ReadProcessFile read = read_process_file(bytes);
  CM_ASSERT(read.file.has_value() == read.problem.empty());
  if (!read.file) return;
  const auto sink = std::make_shared<MemorySink>(kPlenty);
  const Merged merged = merge({*read.file, *read.file}, sink);
  if (!merged.problem.empty()) return;
  const Told told = tell(sink->bytes());
  CM_ASSERT(told.story.has_value());
  CM_ASSERT(!summary_of(*told.story).empty());
}

}  // namespace

int fuzz_recording(const std::uint8_t* data, std::size_t size) {
  merge_with_itself({data, size});
  const Told told = tell({data, size});
  CM_ASSERT(told.story.has_value() == told.problem.empty());
  if (!told.story) return 0;
  const Story& story = *told.story;
  for (std::size_t i = 0; i < story.lanes.size(); ++i) {
    CM_ASSERT(!story.lanes[i].in || *story.lanes[i].in < i);
  }
  for (std::size_t i = 0; i < story.records.size(); ++i) {
    const Record& record = story.records[i];
    CM_ASSERT(record.lane < story.lanes.size());
    CM_ASSERT(!record.to || *record.to < story.lanes.size());
    CM_ASSERT(!record.same || *record.same < story.records.size());
    CM_ASSERT(i == 0 || story.records[i - 1].time <= record.time);
    CM_ASSERT(line_of(story, i).find('\n') == std::string::npos);
  }
  for (const Moment& moment : story.moments) CM_ASSERT(moment.at < story.records.size());
  write_json(story, {}, [](std::string_view line) {
    CM_ASSERT(line.starts_with('{') && line.ends_with('}'));
    CM_ASSERT(line.find('\n') == std::string_view::npos);
  });
  CM_ASSERT(!summary_of(story).empty());
  CM_ASSERT(!difference_of(story, story).has_value());
  return 0;
}

}  // namespace anyrdma::recording::fuzz
