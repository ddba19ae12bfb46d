#include "recording/view/text.h"

#include "base/printable.h"
#include "base/text.h"

namespace anyrdma::recording {
namespace {

std::string about(const Story& story, const Record& record) {
  std::string names;
  for (const std::size_t each : record.about) {
    if (each != record.lane) names += (names.empty() ? "" : " ") + story.lanes[each].name;
  }
  return names.empty() ? "" : " [" + names + "]";
}

std::string fields(const Record& record) {
  std::string text;
  for (const auto& [name, value] : record.fields) text += " " + name + "=" + value;
  return text;
}

std::string time(const std::optional<Duration>& when) {
  return when ? seconds_text(*when) : "never";
}

std::string message(const Story& story, const Record& record) {
  std::string text = " -> " + (record.to ? story.lanes[*record.to].name : std::string("-")) + " " +
                     record.name + fields(record);
  if (record.psn) text += " psn=" + std::to_string(*record.psn);
  if (record.bytes) text += " length=" + std::to_string(*record.bytes);
  if (record.same) text += ", again (" + std::to_string(*record.same) + ")";
  if (record.arrives) text += ", arrives " + time(record.arrives);
  if (!record.fate.empty()) text += ", " + record.fate;
  return text;
}

std::string event(const Record& record) {
  std::string text = " event " + record.name;
  if (record.status != "0" && !record.status.empty()) text += " status " + record.status;
  return text + fields(record) + ", fetched " + time(record.fetched) + ", acknowledged " +
         time(record.acknowledged);
}

std::string rest_of(const Story& story, const Record& record) {
  switch (record.kind) {
    case RecordKind::kMessage:
      return message(story, record);
    case RecordKind::kCall:
      return " " + record.name + fields(record) + " = " + record.result;
    case RecordKind::kState:
      return " is " + record.name;
    case RecordKind::kEvent:
      return event(record);
    case RecordKind::kCompletion:
      return " completion " + record.name + " " + record.status + fields(record);
    case RecordKind::kWait:
      return " waits for " + record.purpose + ", until " + time(record.ends);
    case RecordKind::kFault:
      return " FAULT " + record.name + " (" + record.effect + ")";
    case RecordKind::kNote:
      return (record.stream.empty() ? " note: " : " " + record.stream + ": ") + record.name;
    case RecordKind::kFinding:
      return " FINDING " + record.name;
    case RecordKind::kChoice:
      return " goes on first, choice " + record.name + fields(record);
  }
  return {};
}

}  // namespace

std::string raw_line_of(const Story& story, std::size_t number) {
  const Record& record = story.records[number];
  return seconds_text(record.time) + " " + story.lanes[record.lane].name + rest_of(story, record) +
         about(story, record);
}

std::string line_of(const Story& story, std::size_t number) {
  return printable_line(raw_line_of(story, number));
}

}  // namespace anyrdma::recording
