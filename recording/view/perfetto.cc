#include "recording/view/perfetto.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>

namespace anyrdma::recording {
namespace {

// Field numbers of perfetto's published schema: Trace, TracePacket, TrackDescriptor, TrackEvent,
// DebugAnnotation.
constexpr std::uint32_t kTracePacket = 1;
constexpr std::uint32_t kTimestamp = 8;
constexpr std::uint32_t kSequence = 10;
constexpr std::uint32_t kTrackEvent = 11;
constexpr std::uint32_t kTrackDescriptor = 60;
constexpr std::uint32_t kUuid = 1;
constexpr std::uint32_t kTrackName = 2;
constexpr std::uint32_t kParentUuid = 5;
constexpr std::uint32_t kAnnotation = 4;
constexpr std::uint32_t kType = 9;
constexpr std::uint32_t kTrackUuid = 11;
constexpr std::uint32_t kCategory = 22;
constexpr std::uint32_t kEventName = 23;
constexpr std::uint32_t kFlow = 47;
constexpr std::uint32_t kFlowEnd = 48;
constexpr std::uint32_t kAnnotationText = 6;
constexpr std::uint32_t kAnnotationName = 10;

constexpr std::uint64_t kOneSequence = 1;
constexpr unsigned kVarint = 0;
constexpr unsigned kFixed64 = 1;
constexpr unsigned kBytes = 2;

enum class Type : std::uint8_t { kBegin = 1, kEnd = 2, kInstant = 3 };

class Message {
 public:
  void number(std::uint32_t field, std::uint64_t value) {
    varint(field << 3 | kVarint);
    varint(value);
  }
  void fixed(std::uint32_t field, std::uint64_t value) {
    varint(field << 3 | kFixed64);
    for (unsigned i = 0; i < sizeof value; ++i) {
      bytes_.push_back(static_cast<char>(value >> (8 * i)));
    }
  }
  void text(std::uint32_t field, std::string_view value) {
    varint(field << 3 | kBytes);
    varint(value.size());
    bytes_ += value;
  }
  void message(std::uint32_t field, const Message& value) { text(field, value.bytes_); }
  [[nodiscard]] const std::string& bytes() const { return bytes_; }

 private:
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>(value | 0x80));
    bytes_.push_back(static_cast<char>(value));
  }

  std::string bytes_;
};

class Perfetto {
 public:
  explicit Perfetto(const Story& story) : story_(story) {
    if (!story.records.empty()) {
      first_ = story.records.front().time;
      last_ = story.records.back().time;
    }
  }

  [[nodiscard]] std::vector<std::uint8_t> file() {
    for (std::size_t i = 0; i < story_.lanes.size(); ++i) describe(i);
    for (std::size_t i = 0; i < story_.records.size(); ++i) add(i);
    for (const auto& [lane, name] : open_) slice_end(last_, lane);
    std::stable_sort(packets_.begin(), packets_.end(),
                     [](const auto& a, const auto& b) { return std::get<0>(a) < std::get<0>(b); });
    Message trace;
    for (const Message& track : tracks_) trace.message(kTracePacket, track);
    for (const auto& [time, event] : packets_) trace.message(kTracePacket, event);
    return {trace.bytes().begin(), trace.bytes().end()};
  }

 private:
  void describe(std::size_t lane) {
    Message descriptor;
    descriptor.number(kUuid, lane + 1);
    descriptor.text(kTrackName, story_.lanes[lane].name);
    if (story_.lanes[lane].in) descriptor.number(kParentUuid, *story_.lanes[lane].in + 1);
    Message packet;
    packet.number(kSequence, kOneSequence);
    packet.message(kTrackDescriptor, descriptor);
    tracks_.push_back(packet);
  }

  [[nodiscard]] Message begin(Type type, std::size_t lane) const {
    Message event;
    event.number(kType, static_cast<std::uint64_t>(type));
    event.number(kTrackUuid, lane + 1);
    return event;
  }

  void put(Duration time, const Message& event) {
    // Perfetto's times have no sign; a recording of real time may begin before its first record.
    Message packet;
    packet.number(kTimestamp,
                  static_cast<std::uint64_t>((time - std::min(first_, Duration{})).count()));
    packet.number(kSequence, kOneSequence);
    packet.message(kTrackEvent, event);
    packets_.emplace_back(time, packet);
  }

  [[nodiscard]] Message named(Type type, std::size_t lane, const Record& record,
                              const std::string& name) const {
    Message event = begin(type, lane);
    event.text(kCategory, to_string(record.kind));
    event.text(kEventName, name);
    return event;
  }

  static void annotate(Message& event, std::string_view name, std::string_view value) {
    if (value.empty()) return;
    Message annotation;
    annotation.text(kAnnotationName, name);
    annotation.text(kAnnotationText, value);
    event.message(kAnnotation, annotation);
  }

  static void annotate(Message& event, const Record& record) {
    for (const auto& [name, value] : record.fields) annotate(event, name, value);
    annotate(event, "fate", record.fate);
    annotate(event, "result", record.result);
    annotate(event, "status", record.status);
    annotate(event, "effect", record.effect);
  }

  void slice_end(Duration time, std::size_t lane) { put(time, begin(Type::kEnd, lane)); }

  void add(std::size_t number) {
    const Record& record = story_.records[number];
    if (record.kind == RecordKind::kState) return add_state(record);
    if (record.kind == RecordKind::kWait) return add_wait(record);
    Message event = named(Type::kInstant, record.lane, record, record.name);
    annotate(event, record);
    const bool arrives = record.kind == RecordKind::kMessage && record.arrives && record.to;
    const bool fetched = record.kind == RecordKind::kEvent && record.fetched;
    if (arrives || fetched) event.fixed(kFlow, number + 1);
    put(record.time, event);
    if (arrives) finish_flow(*record.arrives, *record.to, record, "arrives: ", number);
    if (fetched) finish_flow(*record.fetched, record.lane, record, "fetched: ", number);
  }

  void finish_flow(Duration time, std::size_t lane, const Record& record, const char* what,
                   std::size_t number) {
    Message event = named(Type::kInstant, lane, record, what + record.name);
    event.fixed(kFlowEnd, number + 1);
    put(time, event);
  }

  /// A state lasts to the next of its lane.
  void add_state(const Record& record) {
    if (open_.erase(record.lane) != 0) slice_end(record.time, record.lane);
    put(record.time, named(Type::kBegin, record.lane, record, record.name));
    open_[record.lane] = record.name;
  }

  void add_wait(const Record& record) {
    put(record.time, named(Type::kBegin, record.lane, record, "waits for " + record.purpose));
    slice_end(std::max(record.ends.value_or(last_), record.time), record.lane);
  }

  const Story& story_;
  Duration first_{};
  Duration last_{};
  std::map<std::size_t, std::string> open_;  ///< states, by lane
  std::vector<Message> tracks_;
  std::vector<std::pair<Duration, Message>> packets_;
};

}  // namespace

std::vector<std::uint8_t> perfetto_of(const Story& story) {
  return Perfetto(story).file();
}

}  // namespace anyrdma::recording
