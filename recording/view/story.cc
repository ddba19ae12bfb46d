// From entries, each of which says what became known just then, to records that say all of it.
#include "recording/view/story.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "recording/view/narrator.h"

namespace anyrdma::recording {
namespace {

constexpr std::array<std::string_view, 10> kKindNames{"message",    "call",  "state", "event",
                                                      "completion", "wait",  "fault", "note",
                                                      "finding",    "choice"};

}  // namespace

std::string_view to_string(RecordKind kind) {
  return kKindNames[static_cast<std::size_t>(kind)];
}

std::optional<RecordKind> record_kind(std::string_view name) {
  const auto found = std::find(kKindNames.begin(), kKindNames.end(), name);
  if (found == kKindNames.end()) return std::nullopt;
  return static_cast<RecordKind>(found - kKindNames.begin());
}

std::size_t Story::host_of(std::size_t lane) const {
  while (lanes[lane].in && lanes[lane].of != "host") lane = *lanes[lane].in;
  return lane;
}

Told tell(std::span<const std::uint8_t> file) {
  Reader reader(file);
  Narrator narrator;
  Entry entry;
  while (reader.next(entry)) narrator.take(entry);
  if (!reader.problem().empty()) return {.problem = reader.problem()};
  return {.story = narrator.finish(reader.truncated())};
}

}  // namespace anyrdma::recording
