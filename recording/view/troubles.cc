#include "recording/view/troubles.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <deque>
#include <map>
#include <utility>

#include "base/number.h"
#include "base/text.h"
#include "verbs/soft/rc_constants.h"

namespace anyrdma::recording {
namespace {

constexpr std::string_view kFlushed = "IBV_WC_WR_FLUSH_ERR";

std::string field_of(const Record& record, std::string_view name) {
  for (const auto& [key, value] : record.fields) {
    if (key == name) return value;
  }
  return {};
}

std::string times(std::uint64_t count) {
  return count == 1 ? "once" : std::to_string(count) + " times";
}

std::string wait_text(std::string_view field) {
  const unsigned number = take_number<unsigned>(field).value_or(0);
  const auto wait = verbs::soft::rnr_delay(static_cast<std::uint8_t>(number & 31));
  std::string text;
  anyrdma::append(text, "%g ms", static_cast<double>(wait.count()) / 1e6);
  return text;
}

/// Lines with their weight: the heaviest first.
class Weighed {
 public:
  void add(std::uint64_t weight, std::string line) { all_.emplace_back(weight, std::move(line)); }
  [[nodiscard]] std::vector<std::string> lines() {
    std::stable_sort(all_.begin(), all_.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<std::string> lines;
    for (auto& each : all_) lines.push_back(std::move(each.second));
    return lines;
  }

 private:
  std::vector<std::pair<std::uint64_t, std::string>> all_;
};

/// What was posted and is not known to be done. A completion also ends all that was posted before
/// it, which need not have one of its own.
class Queue {
 public:
  void post(const std::string& wr_id) {
    posted_.push_back(wr_id);
    highest_ = std::max(highest_, posted_.size());
  }
  /// False: it is of another queue.
  bool complete(const std::string& wr_id) {
    const auto found = std::find(posted_.begin(), posted_.end(), wr_id);
    if (found == posted_.end()) return false;
    posted_.erase(posted_.begin(), found + 1);
    return true;
  }
  [[nodiscard]] std::size_t highest() const { return highest_; }

 private:
  std::deque<std::string> posted_;
  std::size_t highest_ = 0;
};

/// The packets of one queue pair's requests.
struct Sender {
  std::uint64_t repeated = 0;
  std::uint64_t timeouts = 0;
  std::map<std::uint64_t, Duration> sent{};   ///< when last, by PSN
  std::optional<Duration> nak{};              ///< when the last one came
  std::optional<std::uint64_t> last_again{};  ///< PSN of the packet before, if that was sent again
};

struct Pair {
  Queue sends;
  Queue receives;
  std::uint64_t flushed = 0;
  Sender sender;
  std::map<std::string, std::uint64_t> not_ready{};  ///< by wait
};

class Counting {
 public:
  explicit Counting(const Story& story) : story_(story) {
    for (const Record& record : story.records) count(record);
  }

  [[nodiscard]] Troubles troubles() const {
    Weighed not_ready;
    Weighed repeated;
    Weighed flushed;
    Weighed depths;
    for (const auto& [lane, pair] : pairs_) {
      const std::string& name = story_.lanes[lane].name;
      for (const auto& [wait, count] : pair.not_ready)
        not_ready.add(count, times(count) + ", " + wait + " each, of " + name);
      if (const Sender& sender = pair.sender; sender.repeated != 0) {
        repeated.add(sender.repeated, std::to_string(sender.repeated) +
                                          (sender.repeated == 1 ? " packet" : " packets") + " of " +
                                          name + timeouts_text(sender.timeouts));
      }
      if (pair.flushed != 0)
        flushed.add(pair.flushed, std::to_string(pair.flushed) + " of " + name);
      const auto sends = pair.sends.highest();
      const auto receives = pair.receives.highest();
      if (sends + receives != 0) {
        depths.add(std::max(sends, receives), name + ": " + std::to_string(sends) + " sends, " +
                                                  std::to_string(receives) + " receives");
      }
    }
    Weighed messages;
    for (const auto& [name, count] : messages_)
      messages.add(count, name + " " + std::to_string(count));
    return {.not_ready = not_ready.lines(),
            .repeated = repeated.lines(),
            .repeated_messages = messages.lines(),
            .flushed = flushed.lines(),
            .depths = depths.lines()};
  }

 private:
  [[nodiscard]] static std::string timeouts_text(std::uint64_t timeouts) {
    if (timeouts == 0) return ", after NAKs";
    return ", after " + std::to_string(timeouts) + (timeouts == 1 ? " timeout" : " timeouts");
  }

  /// The queue pair of that host which a record is about; null: it is not known.
  [[nodiscard]] Pair* pair_at(const Record& record, std::size_t host) {
    for (const std::size_t lane : record.about) {
      if (story_.lanes[lane].of == "qp" && story_.host_of(lane) == host) return &pairs_[lane];
    }
    return nullptr;
  }

  void count(const Record& record) {
    if (record.kind == RecordKind::kMessage) return count_message(record);
    if (record.about.empty() || story_.lanes[record.about.front()].of != "qp") return;
    Pair& pair = pairs_[record.about.front()];
    const std::string wr_id = field_of(record, "wr_id");
    if (record.kind == RecordKind::kCompletion) {
      if (record.status == kFlushed) ++pair.flushed;
      const bool receive = record.name.find("RECV") != std::string::npos;
      if (receive || !pair.sends.complete(wr_id)) (void)pair.receives.complete(wr_id);
    } else if (record.kind == RecordKind::kCall && record.result == "0") {
      if (record.name == "ibv_post_send") pair.sends.post(wr_id);
      if (record.name == "ibv_post_recv") pair.receives.post(wr_id);
    }
  }

  void count_message(const Record& record) {
    const std::size_t from = story_.host_of(record.lane);
    if (!record.psn) {
      const bool repeats = record.same && record.name.find(' ') == std::string::npos;
      if (repeats) ++messages_[record.name];
      return;
    }
    const std::string rnr = field_of(record, "rnr-nak");
    if (!rnr.empty() || !field_of(record, "nak").empty()) {
      if (Pair* const pair = pair_at(record, from); pair != nullptr && !rnr.empty())
        ++pair->not_ready[wait_text(rnr)];
      if (!record.to || !record.arrives || !record.fate.empty()) return;
      if (Pair* const pair = pair_at(record, story_.host_of(*record.to)); pair != nullptr)
        pair->sender.nak = *record.arrives;
      return;
    }
    const bool answer =
        !field_of(record, "ack").empty() || record.name.find("Response") != std::string::npos;
    Pair* const pair = pair_at(record, from);
    if (pair != nullptr && !answer) count_request(pair->sender, record);
  }

  static void count_request(Sender& sender, const Record& record) {
    const bool again = record.same.has_value();
    if (again) {
      ++sender.repeated;
      const bool goes_on = sender.last_again && *sender.last_again < *record.psn;
      const auto before = sender.sent.find(*record.psn);
      const bool nak = sender.nak && before != sender.sent.end() && *sender.nak >= before->second;
      if (!goes_on && !nak) ++sender.timeouts;
    }
    sender.last_again = again ? record.psn : std::nullopt;
    sender.sent[*record.psn] = record.time;
  }

  const Story& story_;
  std::map<std::size_t, Pair> pairs_;  ///< by lane
  std::map<std::string, std::uint64_t> messages_;
};

}  // namespace

Troubles troubles_of(const Story& story) {
  return Counting(story).troubles();
}

}  // namespace anyrdma::recording
