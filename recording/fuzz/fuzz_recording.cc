#include "recording/fuzz/fuzz_recording.h"

#include <string>

#include "recording/view/json.h"
#include "recording/view/story.h"
#include "recording/view/text.h"
#include "verbs/assert.h"

namespace anyrdma::recording::fuzz {

int fuzz_recording(const std::uint8_t* data, std::size_t size) {
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
