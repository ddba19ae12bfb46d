// What only shows when all of a recording has been read: what repeats what, and the order of time.
#include <algorithm>
#include <map>
#include <numeric>

#include "recording/view/narrator.h"

namespace anyrdma::recording {
namespace {

std::string with_fields(const Record& record) {
  std::string text = record.name;
  for (const auto& [name, value] : record.fields) text += " " + name + "=" + value;
  return text;
}

/// What a repetition has in common with what it repeats. In real time nobody may know where the one
/// that was lost went to.
std::string likeness(const Record& record, bool real) {
  std::string text = std::to_string(record.lane) + ">" +
                     (record.to && !real ? std::to_string(*record.to) : std::string("-")) + " ";
  if (!record.psn) return text + with_fields(record);
  for (const auto& [name, value] : record.fields) {
    if (name == "qpn") text += value + " ";
  }
  return text + record.name + " " + std::to_string(*record.psn);
}

/// "lose" of "on client->server REQ 1: lose".
std::string action_of(const std::string& line) {
  const std::size_t colon = line.find(": ");
  return colon == std::string::npos ? line : line.substr(colon + 2);
}

/// Numbers of lanes by name: a process is known by "client/rping[2]", its threads by
/// "client/rping" and "client/rping/2".
std::optional<std::size_t> process_of(const Story& story, const std::string& thread) {
  for (std::size_t i = 0; i < story.lanes.size(); ++i) {
    const Lane& lane = story.lanes[i];
    const bool plain = lane.of == "process" && lane.in && story.lanes[*lane.in].of == "host" &&
                       !story.lanes[*lane.in].in;
    if (!plain) continue;
    const std::string name = lane.name.substr(0, lane.name.find('['));
    if (thread == name || thread.starts_with(name + "/")) return i;
  }
  return std::nullopt;
}

}  // namespace

void Narrator::find_repetitions() {
  std::map<std::string, std::size_t> first;
  for (std::size_t i = 0; i < story_.records.size(); ++i) {
    Record& record = story_.records[i];
    if (record.kind != RecordKind::kMessage || record.same) continue;
    const auto [found, fresh] = first.try_emplace(likeness(record, story_.clock == kRealClock), i);
    if (!fresh) record.same = found->second;
  }
}

// In real time nobody sees more than its own messages.
void Narrator::name_unseen() {
  for (Record& record : story_.records) {
    if (record.kind == RecordKind::kMessage && !record.arrives && record.fate.empty())
      record.fate = kUnseen;
  }
}

void Narrator::name_effects() {
  for (Record& record : story_.records) {
    if (record.kind != RecordKind::kFault) continue;
    record.effect = action_of(record.name);
    for (const std::size_t struck : record.strikes) {
      const Record& message = story_.records[struck];
      record.effect += (struck == record.strikes.front() ? ": " : ", ") + message.name + " from " +
                       story_.lanes[message.lane].name;
      if (message.to) record.effect += " to " + story_.lanes[*message.to].name;
    }
  }
}

// A process is known by name only when it first speaks; its threads may have waited before.
void Narrator::place_threads() {
  for (Lane& lane : story_.lanes) {
    if (lane.of != "thread") continue;
    if (const auto process = process_of(story_, lane.name)) lane.in = process;
  }
  std::vector<std::size_t> order;
  std::vector<std::optional<std::size_t>> place(story_.lanes.size());
  const auto put = [&](auto&& self, std::size_t lane) -> void {
    if (place[lane]) return;
    if (story_.lanes[lane].in) self(self, *story_.lanes[lane].in);
    place[lane] = order.size();
    order.push_back(lane);
  };
  for (std::size_t i = 0; i < story_.lanes.size(); ++i) put(put, i);
  std::vector<Lane> lanes;
  for (const std::size_t each : order) {
    Lane lane = story_.lanes[each];
    if (lane.in) lane.in = place[*lane.in];
    lanes.push_back(std::move(lane));
  }
  story_.lanes = std::move(lanes);
  const auto move = [&](std::size_t& lane) { lane = *place[lane]; };
  for (Record& record : story_.records) {
    move(record.lane);
    for (std::size_t& each : record.about) move(each);
    if (record.to) move(*record.to);
  }
}

void Narrator::order() {
  std::vector<std::size_t> order(story_.records.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return story_.records[a].time < story_.records[b].time;
  });
  std::vector<std::size_t> place(order.size());
  std::vector<Record> records;
  records.reserve(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = i;
    records.push_back(std::move(story_.records[order[i]]));
  }
  for (Record& record : records) {
    if (record.same) record.same = place[*record.same];
    for (std::size_t& each : record.strikes) each = place[each];
  }
  for (Moment& moment : story_.moments) moment.at = place[moment.at];
  story_.records = std::move(records);
}

Story Narrator::finish(bool truncated) {
  story_.truncated = truncated;
  if (truncated) story_.verdict = "cut off";
  find_repetitions();
  if (story_.clock == kRealClock) name_unseen();
  find_owners(story_, given_);
  name_effects();
  place_threads();
  order();
  name_causes(story_);
  return std::move(story_);
}

}  // namespace anyrdma::recording
