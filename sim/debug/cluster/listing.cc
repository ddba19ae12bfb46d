#include "sim/debug/cluster/listing.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/text.h"
#include "recording/view/filter.h"
#include "recording/view/text.h"

namespace anyrdma::sim::debug {
namespace {

using recording::Lane;
using recording::Record;
using recording::RecordKind;
using recording::Story;

bool is_object(const Lane& lane) {
  return lane.of == "id" || lane.of == "qp";
}

/// The last state record of each lane; nullopt: it has none.
std::vector<std::optional<std::size_t>> last_states(const Story& story) {
  std::vector<std::optional<std::size_t>> last(story.lanes.size());
  for (std::size_t i = 0; i < story.records.size(); ++i) {
    if (story.records[i].kind == RecordKind::kState) last[story.records[i].lane] = i;
  }
  return last;
}

std::string state_line(const Story& story, std::size_t lane, std::optional<std::size_t> state) {
  const std::string& name = story.lanes[lane].name;
  if (!state) return name + "\n";
  const Record& record = story.records[*state];
  return name + " " + record.name + " since " + seconds_text(record.time) + "\n";
}

/// Whether both are about the same id or queue pair.
bool share(const Story& story, const Record& one, const Record& other) {
  const auto is_of_other = [&](std::size_t lane) {
    return is_object(story.lanes[lane]) &&
           (other.lane == lane || std::ranges::find(other.about, lane) != other.about.end());
  };
  return is_of_other(one.lane) || std::ranges::any_of(one.about, is_of_other);
}

/// The last `count` records that pass, as lines.
template <class Predicate>
std::string last_lines(const Story& story, std::size_t count, Predicate passes) {
  std::vector<std::size_t> found;
  for (std::size_t i = story.records.size(); i != 0 && found.size() < count; --i) {
    if (passes(story.records[i - 1])) found.push_back(i - 1);
  }
  std::string text;
  for (auto each = found.rbegin(); each != found.rend(); ++each)
    text += recording::line_of(story, *each) + "\n";
  return text;
}

}  // namespace

bool Doers::include(std::string_view thread) const {
  if (name.empty() || thread == name) return true;
  return !is_one && thread.size() > name.size() && thread.starts_with(name) &&
         (thread[name.size()] == '/' || thread[name.size()] == '.');
}

Doers doers_of(const Story& story, std::size_t number) {
  constexpr std::size_t kLookBack = 1000;
  const Record& record = story.records[number];
  const Lane& lane = story.lanes[record.lane];
  if (lane.of == "thread") return {.name = lane.name, .is_one = true};
  const std::size_t host = story.host_of(record.lane);
  for (std::size_t i = number; i != 0 && i + kLookBack > number; --i) {
    const Record& before = story.records[i - 1];
    const Lane& its = story.lanes[before.lane];
    if (its.of == "thread" && story.host_of(before.lane) == host && share(story, record, before))
      return {.name = its.name, .is_one = true};
  }
  for (std::optional<std::size_t> at = record.lane; at; at = story.lanes[*at].in) {
    const Lane& around = story.lanes[*at];
    if (around.of == "process") return {.name = around.name.substr(0, around.name.find('['))};
    if (around.of == "host") return {.name = around.name};
  }
  return {};
}

bool has_record(const Story& so_far, const Story& whole, std::size_t number) {
  const Record& record = whole.records[number];
  const auto is_like_it = [&](const Story& story, const Record& each) {
    return each.time == record.time && each.kind == record.kind && each.name == record.name &&
           story.lanes[each.lane].name == whole.lanes[record.lane].name;
  };
  const auto end = whole.records.begin() + static_cast<std::ptrdiff_t>(number) + 1;
  const auto wanted = std::count_if(whole.records.begin(), end,
                                    [&](const Record& each) { return is_like_it(whole, each); });
  return std::ranges::count_if(so_far.records, [&](const Record& each) {
           return is_like_it(so_far, each);
         }) >= wanted;
}

std::string objects_text(const Story& story) {
  const auto states = last_states(story);
  std::string text;
  for (std::size_t i = 0; i < story.lanes.size(); ++i) {
    if (is_object(story.lanes[i])) text += state_line(story, i, states[i]);
  }
  return text.empty() ? "no program has an id or a queue pair yet\n" : text;
}

std::string queue_pair_text(const Story& story, const std::string& name, std::size_t count) {
  const recording::Filter filter{.queue_pairs = {name}};
  if (name.empty() || !filter.unknown_in(story).empty())
    return "qp: there is no queue pair '" + name + "'. `monitor ids` lists them\n";
  const auto states = last_states(story);
  std::string text;
  for (std::size_t i = 0; i < story.lanes.size(); ++i) {
    const Lane& lane = story.lanes[i];
    if (lane.of == "qp" && (lane.name == name || lane.name.ends_with("#qp" + name)))
      text += state_line(story, i, states[i]);
  }
  return text +
         last_lines(story, count, [&](const Record& each) { return filter.passes(story, each); });
}

std::string packets_text(const Story& story, verbs::Duration now, std::size_t count) {
  std::string flying;
  for (std::size_t i = 0; i < story.records.size(); ++i) {
    const Record& each = story.records[i];
    if (each.kind == RecordKind::kMessage && each.arrives && *each.arrives > now)
      flying += recording::line_of(story, i) + "\n";
  }
  const std::string last = last_lines(
      story, count, [](const Record& each) { return each.kind == RecordKind::kMessage; });
  if (last.empty()) return "no packet has been sent yet\n";
  return (flying.empty() ? std::string("no packet is on its way\n")
                         : "these are on their way:\n" + flying) +
         "these were sent last:\n" + last;
}

}  // namespace anyrdma::sim::debug
