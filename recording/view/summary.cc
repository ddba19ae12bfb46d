// What a recording shows, in some twenty lines.
#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "recording/view/text.h"
#include "recording/view/troubles.h"

namespace anyrdma::recording {
namespace {

constexpr std::size_t kLinesMax = 20;       ///< of each list
constexpr std::size_t kStackLinesMax = 60;  ///< of a finding

/// A call, and the events that answer it.
struct Step {
  std::string_view call;
  std::array<std::string_view, 4> answers;
};
constexpr Step kSteps[] = {
    {"rdma_resolve_addr", {"ADDR_RESOLVED", "ADDR_ERROR"}},
    {"rdma_resolve_route", {"ROUTE_RESOLVED", "ROUTE_ERROR"}},
    {"rdma_connect", {"ESTABLISHED", "CONNECT_RESPONSE", "REJECTED", "UNREACHABLE"}},
    {"rdma_accept", {"ESTABLISHED"}},
    {"rdma_disconnect", {"DISCONNECTED"}},
    {"rdma_join_multicast", {"MULTICAST_JOIN", "MULTICAST_ERROR"}},
};
constexpr std::string_view kEventPrefix = "RDMA_CM_EVENT_";

std::string plural(std::size_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string counts_of(const std::map<std::string, std::size_t>& counts) {
  std::string text;
  for (const auto& [name, count] : counts)
    text += (text.empty() ? "" : ", ") + name + " " + std::to_string(count);
  return text;
}

class Summary {
 public:
  explicit Summary(const Story& story) : story_(story) {}

  [[nodiscard]] std::string text() {
    head();
    lanes();
    for (const Record& record : story_.records) count(record);
    messages();
    if (!events_.empty()) line("events: " + counts_of(events_));
    if (!completions_.empty()) line("completions: " + counts_of(completions_));
    steps();
    troubles();
    list("never arrived, or were dropped", losses_);
    list("never acknowledged", unacknowledged_);
    list("waits that never ended", waits_);
    faults();
    list("look first at", moments());
    return text_;
  }

 private:
  void line(const std::string& text) { text_ += text + "\n"; }

  void list(const std::string& title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    line(title + ":");
    for (std::size_t i = 0; i < std::min(lines.size(), kLinesMax); ++i) line("  " + lines[i]);
    if (lines.size() > kLinesMax)
      line("  and " + std::to_string(lines.size() - kLinesMax) + " more");
  }

  /// Each with the stack of its finding.
  [[nodiscard]] std::vector<std::string> moments() const {
    std::vector<std::string> lines;
    for (const Moment& each : story_.moments) {
      lines.push_back(seconds_text(each.time) + " s: " + each.why);
      const std::vector<std::string>& stack = story_.records[each.at].stack;
      for (std::size_t i = 0; i < std::min(stack.size(), kStackLinesMax); ++i)
        lines.back() += "\n  " + stack[i];
      if (stack.size() > kStackLinesMax)
        lines.back() +=
            "\n    and " + std::to_string(stack.size() - kStackLinesMax) + " more lines";
    }
    return lines;
  }

  void troubles() {
    const Troubles all = troubles_of(story_);
    list("RNR", all.not_ready);
    list("sent again", all.repeated);
    if (!all.repeated_messages.empty()) {
      std::string text;
      for (const std::string& each : all.repeated_messages)
        text += (text.empty() ? "" : ", ") + each;
      line("messages of the CM sent again: " + text);
    }
    list("flushed", all.flushed);
    list("queues at their highest", all.depths);
  }

  void head() {
    std::string text = story_.verdict.empty() ? "no verdict" : story_.verdict;
    if (!story_.seed.empty()) text += ", seed " + story_.seed;
    if (!story_.records.empty()) {
      text += ", " + seconds_text(story_.records.back().time) + " s of " + story_.clock + " time";
    }
    if (!story_.hash.empty()) text += ", trace hash " + story_.hash;
    line(text);
    if (story_.truncated) line("the recording is truncated: it lacks the end of the run");
    if (!story_.command.empty()) line("reproduce: " + story_.command);
  }

  void lanes() {
    std::map<std::string, std::size_t> kinds;
    for (const Lane& lane : story_.lanes) ++kinds[lane.of];
    line("lanes: " + counts_of(kinds));
    std::string hosts;
    std::size_t count = 0;
    for (const Lane& lane : story_.lanes) {
      if (lane.of == "host" && ++count <= kLinesMax)
        hosts += (hosts.empty() ? "" : ", ") + lane.name;
    }
    if (count > kLinesMax) hosts += " and " + std::to_string(count - kLinesMax) + " more";
    if (count != 0) line("hosts: " + hosts);
  }

  void count(const Record& record) {
    switch (record.kind) {
      case RecordKind::kMessage:
        ++names_[record.name];
        repeated_ += record.same ? 1 : 0;
        if (record.fate == kUnseen) {
          ++unseen_;
        } else if (!record.arrives || !record.fate.empty()) {
          losses_.push_back(seconds_text(record.time) + " s: " + record.name + " from " +
                            story_.lanes[record.lane].name +
                            (record.fate.empty() ? std::string() : ", " + record.fate));
        }
        return;
      case RecordKind::kEvent:
        return count_event(record);
      case RecordKind::kCompletion:
        ++completions_[record.status];
        return;
      case RecordKind::kCall:
        if (!record.about.empty()) called_[{record.name, record.about.front()}] = record.time;
        return;
      case RecordKind::kWait:
        if (!record.ends) {
          waits_.push_back(story_.lanes[record.lane].name + " for " + record.purpose + " since " +
                           seconds_text(record.time) + " s");
        }
        return;
      case RecordKind::kState:
      case RecordKind::kFault:
      case RecordKind::kNote:
      case RecordKind::kFinding:
      case RecordKind::kChoice:
        return;
    }
  }

  void count_event(const Record& record) {
    if (!record.name.starts_with(kEventPrefix)) return;
    const std::string name = record.name.substr(kEventPrefix.size());
    ++events_[name];
    if (record.fetched && !record.acknowledged) {
      unacknowledged_.push_back(name + " of " + story_.lanes[record.lane].name + ", fetched at " +
                                seconds_text(*record.fetched) + " s");
    }
    if (record.about.empty()) return;
    for (const Step& step : kSteps) {
      const auto call = called_.find({std::string(step.call), record.about.front()});
      const bool answers =
          std::find(step.answers.begin(), step.answers.end(), name) != step.answers.end();
      if (call == called_.end() || !answers) continue;
      took_[step.call].push_back(record.time - call->second);
      called_.erase(call);
    }
  }

  void messages() {
    std::size_t total = 0;
    for (const auto& [name, count] : names_) total += count;
    if (total == 0) return;
    line(plural(total, "message") + ", " + std::to_string(losses_.size()) + " of them lost, " +
         std::to_string(repeated_) + " repeated: " + counts_of(names_));
    if (unseen_ != 0)
      line(plural(unseen_, "message") +
           " without a record of arrival: the receiver did not record, or had ended");
  }

  void steps() {
    for (const Step& step : kSteps) {
      const auto found = took_.find(step.call);
      if (found == took_.end()) continue;
      std::vector<Duration>& all = found->second;
      std::sort(all.begin(), all.end());
      line(std::string(step.call) + " to its event: " + std::to_string(all.size()) +
           " times, from " + seconds_text(all.front()) + " to " + seconds_text(all.back()) +
           " s, half within " + seconds_text(all[(all.size() - 1) / 2]) + " s");
    }
  }

  void faults() {
    list("faults", story_.faults);
    std::vector<std::string> effects;
    for (const Record& record : story_.records) {
      if (record.kind == RecordKind::kFault)
        effects.push_back(seconds_text(record.time) + " s: " + record.effect);
    }
    list("what faults did", effects);
  }

  const Story& story_;
  std::string text_;
  std::map<std::string, std::size_t> names_;
  std::map<std::string, std::size_t> events_;
  std::map<std::string, std::size_t> completions_;
  std::map<std::pair<std::string, std::size_t>, Duration> called_;
  std::map<std::string_view, std::vector<Duration>> took_;
  std::size_t repeated_ = 0;
  std::size_t unseen_ = 0;
  std::vector<std::string> losses_;
  std::vector<std::string> unacknowledged_;
  std::vector<std::string> waits_;
};

}  // namespace

std::string summary_of(const Story& story) {
  return Summary(story).text();
}

}  // namespace anyrdma::recording
