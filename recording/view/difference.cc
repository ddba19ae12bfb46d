// Where two runs part. What is compared is what becomes known, in the order of time: a wait that
// ends later is no difference where it begins. Numbers that chance draws count from their first
// use.
#include <algorithm>
#include <cstdint>
#include <map>

#include "base/text.h"
#include "recording/view/text.h"

namespace anyrdma::recording {
namespace {

constexpr std::size_t kAround = 3;

const std::string kUnderWay = "it is under way";
const std::string kTaken = "it is taken";

struct Fact {
  Duration time{};
  std::size_t record = 0;
  std::string what{};  ///< of which aspect it is
  std::string text{};
};

/// Fields whose values come from chance, or from where memory lies.
constexpr std::string_view kDrawn[] = {"id",   "peer",  "request",  "qpn",      "psn",
                                       "rkey", "wr_id", "from-qpn", "peer-qpn", "from"};

class Facts {
 public:
  explicit Facts(const Story& story) : story_(story) {
    for (std::size_t i = 0; i < story.records.size(); ++i) add(i);
    std::stable_sort(all_.begin(), all_.end(),
                     [](const Fact& a, const Fact& b) { return a.time < b.time; });
  }
  [[nodiscard]] const std::vector<Fact>& all() const { return all_; }

 private:
  [[nodiscard]] std::string drawn(const std::string& value) {
    const auto [found, fresh] = numbered_.try_emplace(value, numbered_.size());
    return "(" + std::to_string(found->second) + ")";
  }

  [[nodiscard]] std::string lane(std::size_t number) {
    const std::string& name = story_.lanes[number].name;
    const std::size_t qp = name.find("#qp");
    return qp == std::string::npos ? name : name.substr(0, qp + 3) + drawn(name);
  }

  [[nodiscard]] std::string fields(const Record& record) {
    std::string text;
    for (const auto& [name, value] : record.fields) {
      const bool by_chance =
          std::find(std::begin(kDrawn), std::end(kDrawn), name) != std::end(kDrawn);
      text += " " + name + "=" + (by_chance ? drawn(name + value) : value);
    }
    return text;
  }

  void fact(Duration time, std::size_t record, const char* what, std::string text) {
    all_.push_back({.time = time, .record = record, .what = what, .text = std::move(text)});
  }

  void add(std::size_t number) {
    const Record& record = story_.records[number];
    const Duration now = record.time;
    fact(now, number, "time", seconds_text(now));
    fact(now, number, "kind", std::string(to_string(record.kind)));
    fact(now, number, "place", lane(record.lane));
    fact(now, number, "name", record.name);
    if (record.kind == RecordKind::kMessage) return add_message(number, record);
    if (record.kind == RecordKind::kCall) fact(now, number, "result", record.result);
    if (record.kind == RecordKind::kWait) {
      fact(now, number, "purpose", record.purpose);
      if (record.ends) fact(*record.ends, number, "end of a wait", lane(record.lane));
      return;
    }
    fact(now, number, "status", record.status);
    fact(now, number, "fields", fields(record));
    if (record.fetched) fact(*record.fetched, number, "fetching of an event", record.name);
    if (record.acknowledged) {
      fact(*record.acknowledged, number, "acknowledgement of an event", record.name);
    }
  }

  void add_message(std::size_t number, const Record& record) {
    const Duration now = record.time;
    fact(now, number, "destination", record.to ? lane(*record.to) : "-");
    fact(now, number, "fields", fields(record));
    fact(now, number, "repetition", record.same ? "of " + std::to_string(*record.same) : "none");
    fact(now, number, "length", record.bytes ? std::to_string(*record.bytes) : "");
    if (!record.arrives) return fact(now, number, "fate", record.fate);
    fact(now, number, "fate", kUnderWay);
    fact(now, number, "arrival", seconds_text(*record.arrives));
    fact(*record.arrives, number, "fate", record.fate.empty() ? kTaken : record.fate);
  }

  const Story& story_;
  std::vector<Fact> all_;
  std::map<std::string, std::size_t> numbered_;
};

std::string surroundings(const Story& story, std::optional<std::size_t> record, char side) {
  const std::size_t middle = record.value_or(story.records.size());
  const std::size_t begin = middle < kAround ? 0 : middle - kAround;
  const std::size_t end = std::min(story.records.size(), middle + kAround + 1);
  std::string text;
  for (std::size_t i = begin; i < end; ++i) {
    text += i == middle ? std::string(1, side) + " " : "  ";
    text += line_of(story, i) + "\n";
  }
  if (!record) text += std::string(1, side) + " (it ends here)\n";
  return text;
}

const Fact* fact_at(const std::vector<Fact>& all, std::size_t i) {
  return i < all.size() ? &all[i] : nullptr;
}

/// Whichever is earlier is what the other has not.
Difference describe(const Story& left, const Story& right, const Fact* one, const Fact* other) {
  const auto record = [](const Fact* fact) {
    return fact == nullptr ? std::nullopt : std::optional(fact->record);
  };
  const Fact* const earlier =
      one == nullptr || (other != nullptr && other->time < one->time) ? other : one;
  Difference difference{.at = earlier->record, .sentence = {}, .text = {}};
  if (one == nullptr || other == nullptr) {
    difference.sentence = std::string("the ") + (one == nullptr ? "first" : "second") +
                          " run ends here, the other one continues";
  } else if (one->what == "kind" && other->what == "kind") {
    difference.sentence =
        "the first run has a " + one->text + " where the second has a " + other->text;
  } else if (one->what == other->what) {
    difference.sentence = "the " + one->what + " differs: " + one->text + " and " + other->text;
  } else {
    difference.sentence = "one has the " + one->what + " (" + one->text + "), the other the " +
                          other->what + " (" + other->text + ")";
  }
  difference.sentence += ", at " + seconds_text(earlier->time) + " s";
  difference.text = difference.sentence + "\n\nthe first:\n" +
                    surroundings(left, record(one), '<') + "\nthe second:\n" +
                    surroundings(right, record(other), '>');
  return difference;
}

}  // namespace

std::optional<Difference> difference_of(const Story& left, const Story& right) {
  const Facts one(left);
  const Facts other(right);
  const std::size_t most = std::max(one.all().size(), other.all().size());
  for (std::size_t i = 0; i < most; ++i) {
    const Fact* const a = fact_at(one.all(), i);
    const Fact* const b = fact_at(other.all(), i);
    if (a != nullptr && b != nullptr && a->time == b->time && a->what == b->what &&
        a->text == b->text)
      continue;
    return describe(left, right, a, b);
  }
  if (left.verdict == right.verdict) return std::nullopt;
  const std::string sentence =
      "the records are the same, the verdicts differ: " + left.verdict + " and " + right.verdict;
  return Difference{.at = left.records.size(), .sentence = sentence, .text = sentence + "\n"};
}

}  // namespace anyrdma::recording
