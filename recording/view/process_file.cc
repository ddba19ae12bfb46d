#include "recording/view/process_file.h"

#include <algorithm>

#include "base/number.h"

namespace anyrdma::recording {
namespace {

ReadProcessFile refused(std::string why) {
  return {.file = std::nullopt, .problem = std::move(why)};
}

void take(ProcessFile& file, const Entry& entry) {
  if (entry.kind == EntryKind::kAbout) file.about.emplace_back(entry.texts[0], entry.texts[1]);
  if (entry.kind == EntryKind::kLane) {
    ProcessFile::Lane lane{.of = entry.texts[0], .name = entry.texts[1], .in = std::nullopt};
    if (entry.numbers[0] != 0) lane.in = entry.numbers[0] - 1;
    file.lanes.push_back(lane);
  }
  if (is_message(entry.kind)) file.messages.push_back(file.entries.size());
  file.entries.push_back(entry);
}

bool has_sane_times(const ProcessFile& file) {
  return std::ranges::all_of(file.entries, [](const Entry& each) {
    return each.time >= verbs::Instant{} && each.time.time_since_epoch() <= kLongest;
  });
}

}  // namespace

std::string_view ProcessFile::told(std::string_view key) const {
  const auto found =
      std::ranges::find(about, key, &std::pair<std::string_view, std::string_view>::first);
  return found == about.end() ? std::string_view() : found->second;
}

std::optional<std::int64_t> ProcessFile::number(std::string_view key) const {
  const auto number = whole_number<std::int64_t>(told(key));
  return number && *number >= 0 ? number : std::nullopt;
}

bool ProcessFile::leaves(const Entry& entry) const {
  return entry.kind == EntryKind::kSent && entry.numbers[0] == 0 && entry.numbers[1] > 1 &&
         is_outside(entry.numbers[1] - 1);
}

bool ProcessFile::comes(const Entry& entry) const {
  return entry.kind == EntryKind::kSent && entry.numbers[1] == 1 && is_outside(entry.numbers[0]);
}

ReadProcessFile read_process_file(std::span<const std::uint8_t> bytes) {
  ProcessFile file;
  Reader reader(bytes);
  Entry entry;
  while (reader.next(entry)) take(file, entry);
  if (!reader.problem().empty() && file.entries.empty()) return refused(reader.problem());
  file.damage = reader.problem();
  file.truncated = reader.truncated() || !file.damage.empty();
  if (file.told("clock") != "real") {
    return refused("it is of a simulated run, which has all hosts in one recording as it is");
  }
  if (file.told("process").empty()) {
    return refused("it is not of one process: give the recordings that it was made of");
  }
  if (file.lanes.empty() || file.lanes.front().of != "host" || file.lanes.front().in)
    return refused("it ends before its process did anything");
  if (!has_sane_times(file)) return refused("it is damaged: it has times that no process has");
  return {.file = std::move(file), .problem = {}};
}

}  // namespace anyrdma::recording
