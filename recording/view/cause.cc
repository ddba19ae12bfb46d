// Why somebody waits for ever. A wait says for what; what it was owed stands elsewhere in the run:
// an event that nobody acknowledged or fetched, a message that never came.
#include <algorithm>
#include <map>

#include "base/text.h"
#include "recording/view/narrator.h"

namespace anyrdma::recording {
namespace {

constexpr std::string_view kGone = "destroyed";
/// Purposes of waits, as cm and the traced programs name them.
constexpr std::string_view kAcknowledgement = "the acknowledgement of";
constexpr std::string_view kFutex = "a futex";

struct Cause {
  std::size_t record;
  std::string text;
};

std::string at(Duration time) {
  return " at " + seconds_text(time) + " s";
}

class Causes {
 public:
  explicit Causes(const Story& story) : story_(story) {
    for (std::size_t i = 0; i < story.records.size(); ++i) note(i);
  }

  /// What a thread that waits was owed, the likeliest first.
  [[nodiscard]] std::optional<Cause> of(const Record& wait) const {
    const std::size_t side = side_of(wait.lane);
    const bool for_acknowledgement = wait.purpose.find(kAcknowledgement) != std::string::npos;
    if (for_acknowledgement || wait.purpose == kFutex) {
      if (auto found = unacknowledged(side, for_acknowledgement)) return found;
    }
    if (for_acknowledgement) return std::nullopt;
    if (auto found = lost_message(story_.host_of(wait.lane))) return found;
    if (auto found = unfetched(side)) return found;
    return last_news(side);
  }

 private:
  /// What happened to a message that was sent once or more.
  struct Attempts {
    std::size_t first;
    std::size_t last_lost;
    std::size_t lost = 0;
    bool helped = false;
  };

  void note(std::size_t number) {
    const Record& record = story_.records[number];
    if (record.kind == RecordKind::kState && record.name == kGone) gone_[record.lane] = record.time;
    if (record.kind == RecordKind::kEvent && record.acknowledged) tells_acknowledgements_ = true;
    if (record.kind != RecordKind::kMessage) return;
    const std::size_t first = record.same.value_or(number);
    Attempts& attempts =
        attempts_.try_emplace(first, Attempts{.first = first, .last_lost = number}).first->second;
    const bool lost = !record.arrives.has_value();
    attempts.helped |= !lost && record.fate.empty();
    if (!lost && record.fate.empty()) return;
    attempts.last_lost = number;
    ++attempts.lost;
  }

  /// The process that a lane is in, else its host.
  [[nodiscard]] std::size_t side_of(std::size_t lane) const {
    while (story_.lanes[lane].in && story_.lanes[lane].of != "process" &&
           story_.lanes[lane].of != "host")
      lane = *story_.lanes[lane].in;
    return lane;
  }

  /// Its id is destroyed, or about to be.
  [[nodiscard]] bool is_gone(const Record& event) const {
    const auto found = gone_.find(event.lane);
    return found != gone_.end() && found->second >= event.time;
  }

  [[nodiscard]] std::string name_of(const Record& event) const {
    return event.name + " of " + story_.lanes[event.lane].name;
  }

  /// The last of a side's CM events that is such.
  template <class Such>
  [[nodiscard]] std::optional<std::size_t> last_event(std::size_t side, const Such& such) const {
    for (std::size_t i = story_.records.size(); i > 0; --i) {
      const Record& record = story_.records[i - 1];
      const bool of_id = record.kind == RecordKind::kEvent && story_.lanes[record.lane].of == "id";
      if (of_id && side_of(record.lane) == side && such(record)) return i - 1;
    }
    return std::nullopt;
  }

  /// A destruction is told before it waits. `certain`: somebody says that he waits for such a
  /// thing, if not to destroy an id.
  [[nodiscard]] std::optional<Cause> unacknowledged(std::size_t side, bool certain) const {
    const auto owed = [](const Record& event) { return event.fetched && !event.acknowledged; };
    auto found =
        last_event(side, [&](const Record& event) { return owed(event) && is_gone(event); });
    if (!found && certain) found = last_event(side, owed);
    if (!found || (!certain && !tells_acknowledgements_)) return std::nullopt;
    const Record& event = story_.records[*found];
    return Cause{*found, name_of(event) + ", fetched" + at(*event.fetched) +
                             ", was never acknowledged" +
                             (certain ? "" : ", and rdma_destroy_id waits for that")};
  }

  [[nodiscard]] std::optional<Cause> unfetched(std::size_t side) const {
    const auto found =
        last_event(side, [this](const Record& event) { return !event.fetched && !is_gone(event); });
    if (!found) return std::nullopt;
    const Record& event = story_.records[*found];
    return Cause{*found, name_of(event) + ", queued" + at(event.time) + ", was never fetched"};
  }

  /// To or from a host, the last that never got through.
  [[nodiscard]] std::optional<Cause> lost_message(std::size_t host) const {
    const Attempts* best = nullptr;
    for (const auto& [first, attempts] : attempts_) {
      const Record& record = story_.records[first];
      if (attempts.helped || attempts.lost == 0) continue;
      if (story_.host_of(record.lane) != host && record.to != host) continue;
      if (best == nullptr || attempts.last_lost > best->last_lost) best = &attempts;
    }
    if (best == nullptr) return std::nullopt;
    const Record& record = story_.records[best->first];
    const bool dropped = record.fate.starts_with("dropped: ");
    std::string text = story_.lanes[record.lane].name + "'s " + record.name;
    if (record.to) text += " to " + story_.lanes[*record.to].name;
    text += (dropped ? " was dropped" : " was lost") + at(record.time);
    const std::size_t colon = record.fate.find(": ");
    if (colon != std::string::npos) text += " (" + record.fate.substr(colon + 2) + ")";
    if (best->lost > 1)
      text += ", and each of its " + std::to_string(best->lost - 1) +
              (best->lost == 2 ? " repetition" : " repetitions");
    return Cause{best->first, text};
  }

  [[nodiscard]] std::optional<Cause> last_news(std::size_t side) const {
    const auto found =
        last_event(side, [](const Record& event) { return event.fetched.has_value(); });
    if (!found) return std::nullopt;
    const Record& event = story_.records[*found];
    return Cause{*found, "the last that came was " + name_of(event) + at(event.time)};
  }

  const Story& story_;
  std::map<std::size_t, Attempts> attempts_;
  std::map<std::size_t, Duration> gone_;  ///< ids, by lane
  bool tells_acknowledgements_ = false;
};

}  // namespace

void name_causes(Story& story) {
  const bool any = std::any_of(story.moments.begin(), story.moments.end(), [&](const Moment& each) {
    return story.records[each.at].kind == RecordKind::kWait;
  });
  if (!any) return;
  const Causes causes(story);
  for (Moment& moment : story.moments) {
    const Record& record = story.records[moment.at];
    if (record.kind != RecordKind::kWait || record.ends) continue;
    const auto cause = causes.of(record);
    if (!cause) continue;
    moment.cause = cause->record;
    moment.why += ": " + cause->text;
  }
  std::stable_partition(story.moments.begin(), story.moments.end(),
                        [](const Moment& each) { return each.cause.has_value(); });
}

}  // namespace anyrdma::recording
