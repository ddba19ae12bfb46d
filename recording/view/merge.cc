#include "recording/view/merge.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "recording/view/join_messages.h"
#include "recording/writer.h"

namespace anyrdma::recording {
namespace {

using verbs::Duration;
using verbs::Instant;

/// How far clocks of several machines may differ.
constexpr Duration kClocksDiffer = std::chrono::seconds(1);

/// Belongs to the entry in front of it.
bool follows(EntryKind kind) {
  return kind == EntryKind::kStruck || kind == EntryKind::kMoment;
}

bool is_one_machine(const std::vector<ProcessFile>& files) {
  const std::string_view boot = files.front().told("boot");
  return !boot.empty() && std::ranges::all_of(files, [boot](const ProcessFile& each) {
    return each.told("boot") == boot && each.number("since boot").has_value();
  });
}

/// Lets all files have one time, which begins with the first. A sentence: why not.
std::string align(std::vector<ProcessFile>& files, std::string_view clock) {
  std::int64_t first = INT64_MAX;
  for (const ProcessFile& file : files) {
    if (!file.number(clock)) return "one recording has no time of its beginning";
    first = std::min(first, *file.number(clock));
  }
  for (ProcessFile& file : files) {
    file.begin = Duration(*file.number(clock) - first);
    if (file.begin > kLongest)
      return "they are of different months: their times have nothing in common";
  }
  return {};
}

class Merger {
 public:
  Merger(const std::vector<ProcessFile>& files, const JoinedMessages& joined,
         std::shared_ptr<Sink> sink)
      : files_(files), joined_(joined), parts_(files.size()), writer_(std::move(sink)) {
    for (std::size_t i = 0; i < files.size(); ++i) {
      parts_[i].lanes.resize(files[i].lanes.size());
      parts_[i].messages.resize(files[i].messages.size());
      parts_[i].running = 0;
    }
  }

  void write() {
    head();
    for (std::size_t i = 0; i < files_.size(); ++i) (void)lane(i, 0);
    while (const auto next = next_file()) {
      Part& part = parts_[*next];
      do take(*next, files_[*next].entries[part.next++]);
      while (!at_end(*next) && follows(files_[*next].entries[part.next].kind));
    }
    const bool cut = std::ranges::any_of(files_, &ProcessFile::truncated);
    writer_.end(now_, cut ? "cut off" : "ended", 0);
  }

 private:
  struct Part {
    std::size_t next = 0;       ///< entry
    std::uint64_t message = 0;  ///< the number of its next one
    std::uint64_t running = 0;  ///< 1 + lane of the merged recording
    std::vector<std::optional<Number>> lanes;
    std::vector<std::optional<Number>> messages;
  };

  void head() {
    writer_.about("clock", "real");
    writer_.about("build", files_.front().told("build"));
    writer_.about("began", first_file().told("began"));
    std::string programs;
    for (const ProcessFile& file : files_) {
      programs += (programs.empty() ? "" : " & ") + std::string(file.told("program"));
      for (const auto& [key, value] : file.about) {
        if (key == "plan" || key == "fault") writer_.about(key, value);
      }
    }
    writer_.about("program", programs);
  }

  [[nodiscard]] const ProcessFile& first_file() const {
    return *std::ranges::min_element(files_, {}, &ProcessFile::begin);
  }

  [[nodiscard]] bool at_end(std::size_t file) const {
    return parts_[file].next == files_[file].entries.size();
  }

  [[nodiscard]] std::optional<std::size_t> next_file() const {
    std::optional<std::size_t> first;
    Duration time{};
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (at_end(i)) continue;
      const Duration each = files_[i].time_of(files_[i].entries[parts_[i].next]);
      if (first && each >= time) continue;
      first = i;
      time = each;
    }
    return first;
  }

  // --- lanes ------------------------------------------------------------------------------------
  /// One that nothing happens in is left out. Those that it is in come first, however deep.
  Number lane(std::size_t file, std::uint64_t number) {
    std::vector<std::uint64_t> missing;
    std::optional<std::uint64_t> at = number;
    while (at && !parts_[file].lanes[*at]) {
      missing.push_back(*at);
      at = files_[file].is_outside(*at) ? std::nullopt : files_[file].lanes[*at].in;
    }
    for (; !missing.empty(); missing.pop_back())
      parts_[file].lanes[missing.back()] = add_lane(file, missing.back());
    return *parts_[file].lanes[number];
  }

  /// Who is outside is so for all.
  Number add_lane(std::size_t file, std::uint64_t number) {
    const ProcessFile::Lane& lane = files_[file].lanes[number];
    if (number == 0) return writer_.lane(now_, lane.of, name_for(lane.name));
    if (files_[file].is_outside(number)) {
      const auto found = outside_.find(lane.name);
      if (found != outside_.end()) return found->second;
      return outside_.emplace(lane.name, writer_.lane(now_, lane.of, lane.name)).first->second;
    }
    if (!lane.in) return writer_.lane(now_, lane.of, lane.name);
    return writer_.lane(now_, lane.of, lane.name, *parts_[file].lanes[*lane.in]);
  }

  /// Ids and queue pairs are named by it: no two are the same.
  std::string name_for(std::string_view name) {
    std::string own(name);
    for (int i = 2; !names_.insert(own).second; ++i)
      own = std::string(name) + "~" + std::to_string(i);
    return own;
  }

  // --- entries ----------------------------------------------------------------------------------
  void take(std::size_t file, const Entry& entry) {
    now_ = Instant(files_[file].time_of(entry));
    switch (entry.kind) {
      case EntryKind::kAbout:
      case EntryKind::kLane:
      case EntryKind::kEnd:
        return;
      case EntryKind::kRunning:
        parts_[file].running = entry.numbers[0] == 0 ? 0 : lane(file, entry.numbers[0] - 1) + 1;
        return;
      case EntryKind::kSent:
        return take_message(file, parts_[file].message++);
      case EntryKind::kArrives:
        // Of who saw it come, and said when by the message itself.
        if (joined_.departure.contains({file, entry.numbers[0]})) return;
        return copy(file, entry);
      case EntryKind::kCopied: {
        copy(file, entry);
        parts_[file].messages[parts_[file].message++] = writer_.next_message();
        return;
      }
      default:
        return copy(file, entry);
    }
  }

  void take_message(std::size_t file, std::size_t message) {
    const auto departure = joined_.departure.find({file, message});
    const MessageOf sent =
        departure == joined_.departure.end() ? MessageOf{file, message} : departure->second;
    send(sent);
    parts_[file].messages[message] = parts_[sent.first].messages[sent.second];
  }

  /// A clock that is behind lets one come before it has left: then it leaves now.
  void send(const MessageOf& message) {
    const auto& [file, number] = message;
    std::optional<Number>& written = parts_[file].messages[number];
    if (written) return;
    const Entry& entry = files_[file].entries[files_[file].messages[number]];
    const auto arrival = joined_.arrival.find(message);
    if (arrival == joined_.arrival.end()) {
      copy(file, entry);
      written = writer_.next_message();
      return;
    }
    const auto& [where, there] = arrival->second;
    const Duration left = files_[file].time_of(entry);
    const Duration came =
        files_[where].time_of(files_[where].entries[files_[where].messages[there]]);
    const Number to = lane(where, 0);
    const Number from = lane(file, entry.numbers[0]);
    writer_.write<EntryKind::kSent>(Instant(left), from, to + 1, entry.texts[0], entry.texts[1],
                                    entry.numbers[2]);
    written = writer_.next_message();
    const auto later = static_cast<std::uint64_t>(std::max(came - left, Duration{}).count());
    writer_.write<EntryKind::kArrives>(Instant(left), *written, later);
  }

  /// What lanes and messages are called here.
  void copy(std::size_t file, const Entry& entry) {
    auto numbers = entry.numbers;
    std::size_t at = 0;
    for (const char letter : kShapes[static_cast<std::size_t>(entry.kind)]) {
      if (letter == 't' || letter == 'b') continue;
      std::uint64_t& number = numbers[at++];
      if (letter == 'l') number = lane(file, number);
      if (letter == 'L' && number != 0) number = lane(file, number - 1) + 1;
      if (letter == 'm') number = *parts_[file].messages[number];
    }
    say_running(file);
    writer_.write(entry.kind, now_, numbers, entry.texts);
  }

  /// Of all files the one that speaks.
  void say_running(std::size_t file) {
    if (parts_[file].running == running_) return;
    running_ = parts_[file].running;
    writer_.write<EntryKind::kRunning>(now_, running_);
  }

  const std::vector<ProcessFile>& files_;
  const JoinedMessages& joined_;
  std::vector<Part> parts_;
  Writer writer_;
  Instant now_{};
  std::uint64_t running_ = 0;
  std::map<std::string_view, Number> outside_;
  std::set<std::string> names_;
};

}  // namespace

Merged merge(std::vector<ProcessFile> files, std::shared_ptr<Sink> sink) {
  Merged merged;
  if (files.empty()) {
    merged.problem = "no recording was given";
    return merged;
  }
  merged.exact = is_one_machine(files);
  merged.problem = align(files, merged.exact ? "since boot" : "since 1970");
  if (!merged.problem.empty()) return merged;
  const JoinedMessages joined = join_messages(files, merged.exact ? Duration{} : kClocksDiffer);
  merged.joined = joined.arrival.size();
  Merger(files, joined, std::move(sink)).write();
  return merged;
}

}  // namespace anyrdma::recording
