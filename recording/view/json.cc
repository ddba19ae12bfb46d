#include "recording/view/json.h"

#include <cstdint>
#include <cstdio>

#include "base/printable.h"
#include "base/text.h"

namespace anyrdma::recording {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

class Object {
 public:
  void text(std::string_view key, std::string_view value) {
    if (!value.empty()) raw(key, json_string(value));
  }
  template <class Number>
  void number(std::string_view key, Number value) {
    raw(key, std::to_string(value));
  }
  void time(std::string_view key, const std::optional<Duration>& value) {
    if (value) number(key, value->count());
  }
  template <class Number>
  void maybe(std::string_view key, const std::optional<Number>& value) {
    if (value) number(key, *value);
  }
  void numbers(std::string_view key, const std::vector<std::size_t>& all) {
    if (all.empty()) return;
    std::string list;
    for (const std::size_t each : all) list += (list.empty() ? "" : ",") + std::to_string(each);
    raw(key, "[" + list + "]");
  }
  void texts(std::string_view key, const std::vector<std::string>& all) {
    std::string list;
    for (const std::string& each : all) list += (list.empty() ? "" : ",") + json_string(each);
    if (!list.empty()) raw(key, "[" + list + "]");
  }
  void raw(std::string_view key, std::string_view value) {
    text_ += text_.empty() ? "{" : ",";
    text_ += '"';
    text_ += key;
    text_ += "\":";
    text_ += value;
  }
  [[nodiscard]] std::string end() const { return text_.empty() ? "{}" : text_ + "}"; }

 private:
  std::string text_;
};

std::string header(const Story& story) {
  Object object;
  object.number("anyrdma", 1);
  object.text("clock", story.clock);
  object.text("seed", story.seed);
  object.texts("plan", story.plan);
  object.texts("faults", story.faults);
  object.text("hash", story.hash);
  object.text("command", story.command);
  object.text("program", story.program);
  object.text("build", story.build);
  object.text("began", story.began);
  object.text("verdict", story.verdict);
  std::string moments;
  for (const Moment& each : story.moments) {
    Object moment;
    moment.number("t", each.time.count());
    moment.number("at", each.at);
    moment.text("why", each.why);
    moment.maybe("cause", each.cause);
    moments += (moments.empty() ? "" : ",") + moment.end();
  }
  if (!moments.empty()) object.raw("moments", "[" + moments + "]");
  return object.end();
}

std::string line_of(const Lane& lane, std::size_t number) {
  Object object;
  object.number("lane", number);
  object.text("of", lane.of);
  object.text("name", lane.name);
  object.maybe("in", lane.in);
  return object.end();
}

std::string line_of(const Record& record, std::size_t number) {
  Object object;
  object.number("n", number);
  object.number("t", record.time.count());
  object.number("lane", record.lane);
  object.text("is", to_string(record.kind));
  object.text("name", record.name);
  object.maybe("to", record.to);
  object.maybe("bytes", record.bytes);
  object.time("arrives", record.arrives);
  object.text("fate", record.fate);
  object.maybe("same", record.same);
  object.maybe("psn", record.psn);
  if (record.kind == RecordKind::kEvent) object.number("queued", record.time.count());
  object.time("fetched", record.fetched);
  object.time("acknowledged", record.acknowledged);
  object.time(record.kind == RecordKind::kCompletion ? "polled" : "ends", record.ends);
  object.text("result", record.result);
  if (record.kind == RecordKind::kEvent && !record.status.empty()) {
    object.raw("status", record.status);
  } else {
    object.text("status", record.status);
  }
  object.text("for", record.purpose);
  object.text("effect", record.effect);
  object.numbers("strikes", record.strikes);
  object.text("stream", record.stream);
  object.texts("stack", record.stack);
  object.numbers("about", record.about);
  Object fields;
  for (const auto& [name, value] : record.fields) {
    const std::string key = json_string(name);
    fields.raw(std::string_view(key).substr(1, key.size() - 2), json_string(value));
  }
  if (!record.fields.empty()) object.raw("fields", fields.end());
  return object.end();
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string quoted = "\"";
  while (!text.empty()) {
    const std::size_t size = character_at(text);
    if (size == 0) {
      quoted += kReplacement;
      text.remove_prefix(1);
      continue;
    }
    const auto first = static_cast<std::uint8_t>(text.front());
    if (first < 0x20 || first == 0x7f) {
      anyrdma::append(quoted, "\\u%04x", first);
    } else if (is_unprintable(text.substr(0, size))) {
      anyrdma::append(quoted, "\\u%04x",
                      static_cast<unsigned>(code_point_of(text.substr(0, size))));
    } else {
      if (first == '"' || first == '\\') quoted += '\\';
      quoted += text.substr(0, size);
    }
    text.remove_prefix(size);
  }
  return quoted + '"';
}

void write_json(const Story& story, const std::function<bool(const Record&)>& wanted,
                const std::function<void(std::string_view line)>& out) {
  out(header(story));
  for (std::size_t i = 0; i < story.lanes.size(); ++i) out(line_of(story.lanes[i], i));
  for (std::size_t i = 0; i < story.records.size(); ++i) {
    if (!wanted || wanted(story.records[i])) out(line_of(story.records[i], i));
  }
}

}  // namespace anyrdma::recording
