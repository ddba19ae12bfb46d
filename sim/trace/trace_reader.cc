#include "sim/trace/trace_reader.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <tuple>
#include <utility>

#include "base/text.h"
#include "transport/event_name.h"
#include "transport/ibcm/names.h"

namespace anyrdma::sim {
namespace {

/// How the description of a packet begins.
constexpr std::array<std::string_view, 22> kPackets{
    "RC",   "UC",   "RD",       "UD",       "CNP", "XRC", "REQ", "MRA", "REJ", "REP",  "RTU",
    "DREQ", "DREP", "SIDR_REQ", "SIDR_REP", "LAP", "APR", "MAD", "TCP", "UDP", "ICMP", "IP"};
constexpr std::string_view kNoPacket = " bytes that are no packet";

bool is_packet(std::string_view text) {
  if (text.ends_with(kNoPacket)) {
    text.remove_suffix(kNoPacket.size());
    return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
  }
  const std::string_view first = text.substr(0, text.find(' '));
  return std::ranges::find(kPackets, first) != kPackets.end() && first.size() < text.size();
}

/// Whether it is what to_string makes of one of an enum's values, which end where "?" comes.
template <class Enum>
bool is_name_of(std::string_view text) {
  for (std::uint8_t i = 0; to_string(Enum{i}) != "?"; ++i) {
    if (text == to_string(Enum{i})) return true;
  }
  return false;
}

/// Takes a line apart from its front; a reason as soon as something does not fit.
class LineReader {
 public:
  explicit LineReader(std::string_view rest) : rest_(rest) {}

  /// Why not; empty when all is well.
  [[nodiscard]] std::string read(TraceLine& line);

 private:
  [[nodiscard]] bool skip(std::string_view expected) {
    if (!rest_.starts_with(expected)) return false;
    rest_.remove_prefix(expected.size());
    return true;
  }
  /// What is in front of `end`, which is taken, too; nullopt when it is not there.
  [[nodiscard]] std::optional<std::string_view> until(std::string_view end) {
    const std::size_t at = rest_.find(end);
    if (at == rest_.npos) return std::nullopt;
    const std::string_view front = rest_.substr(0, at);
    rest_.remove_prefix(at + end.size());
    return front;
  }
  /// As it is written: no sign unless negative, no zeros in front.
  template <class Number>
  [[nodiscard]] bool number(Number& value) {
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{}) return false;
    const auto length = static_cast<std::size_t>(end - rest_.data());
    if (std::to_string(value) != rest_.substr(0, length)) return false;
    rest_.remove_prefix(length);
    return true;
  }
  [[nodiscard]] std::string read_time(TraceLine& line);
  [[nodiscard]] std::string read_packet(TraceLine& line);
  [[nodiscard]] std::string read_drop(TraceLine& line);
  [[nodiscard]] std::string read_ignored(TraceLine& line);
  [[nodiscard]] std::string read_event(TraceLine& line);

  std::string_view rest_;
};

std::string LineReader::read_time(TraceLine& line) {
  constexpr std::int64_t kNanoseconds = 1'000'000'000;
  constexpr std::size_t kDecimals = 9;
  std::int64_t seconds = 0;
  if (!number(seconds) || seconds < 0 || !skip(".") || rest_.size() < kDecimals) {
    return "does not begin with a time";
  }
  if (seconds >= std::numeric_limits<std::int64_t>::max() / kNanoseconds) {
    return "a time that is too late";
  }
  std::int64_t fraction = 0;
  for (const char digit : rest_.substr(0, kDecimals)) {
    if (digit < '0' || digit > '9') return "a time without nine decimals";
    fraction = fraction * 10 + (digit - '0');
  }
  rest_.remove_prefix(kDecimals);
  if (!skip(" ")) return "nothing behind the time";
  line.time = Instant(verbs::Duration(seconds * kNanoseconds + fraction));
  return {};
}

std::string LineReader::read_packet(TraceLine& line) {
  if (!is_packet(rest_)) return "no packet that is known";
  line.text = rest_;
  return {};
}

std::string LineReader::read_drop(TraceLine& line) {
  if (skip(" (")) {
    const auto peer = until(")");
    if (!peer || peer->empty()) return "a drop without its peer";
    line.peer = *peer;
  }
  if (!skip(": ")) return "a drop without a cause";
  const auto cause = until(": ");
  if (!cause || !is_name_of<DropCause>(*cause)) return "no cause of a drop that is known";
  line.cause = *cause;
  return read_packet(line);
}

std::string LineReader::read_ignored(TraceLine& line) {
  const auto message = until(": ");
  if (!message || message->empty()) return "no message that is ignored";
  if (!is_name_of<ibcm::DropReason>(rest_)) return "no reason to ignore a message that is known";
  line.text = *message;
  line.cause = rest_;
  return {};
}

std::string LineReader::read_event(TraceLine& line) {
  if (!skip("id=") || !number(line.id) || !skip(" ")) return "an event without its id";
  const auto name = until(" ");
  constexpr int kTypes = RDMA_CM_EVENT_TIMEWAIT_EXIT + 1;
  int type = 0;
  while (type < kTypes &&
         (!name || transport::short_event_name(static_cast<rdma_cm_event_type>(type)) != *name)) {
    ++type;
  }
  if (type == kTypes) return "no event that is known";
  line.event = static_cast<rdma_cm_event_type>(type);
  if (skip("listener=") && (!number(line.listener) || line.listener == 0 || !skip(" "))) {
    return "a listener without a number";
  }
  if (!skip("status=") || !number(line.status)) return "an event without its status";
  if (!rest_.empty() && !rest_.starts_with(" ")) return "no space behind the status";
  line.text = rest_;
  return {};
}

std::string LineReader::read(TraceLine& line) {
  const auto strange = [](char each) { return each < ' ' || each > '~'; };
  if (std::ranges::any_of(rest_, strange)) return "a character that no trace has";
  if (std::string problem = read_time(line); !problem.empty()) return problem;
  if (skip("FAULT ")) {
    line.kind = RecordKind::kFault;
    line.text = rest_;
    return {};
  }
  if (skip("CHOICE ")) {
    std::uint64_t choice = 0;
    const std::string_view text = rest_;
    if (!number(line.id) || !skip(":") || !number(choice) || choice == 0 || !rest_.empty())
      return "no choice of a schedule";
    line.kind = RecordKind::kChoice;
    line.id = 0;
    line.text = text;
    return {};
  }
  const auto host = until(" ");
  if (!host || host->empty()) return "no host";
  line.host = *host;
  if (skip("-> ")) {
    const auto peer = until(" ");
    if (!peer || peer->empty()) return "a packet without a destination";
    line.kind = RecordKind::kSend;
    line.peer = *peer;
    return read_packet(line);
  }
  if (skip("note ")) {
    line.kind = RecordKind::kNote;
    line.text = rest_;
    return {};
  }
  if (skip("drop")) {
    line.kind = RecordKind::kDrop;
    return read_drop(line);
  }
  if (skip("ignores ")) {
    line.kind = RecordKind::kDropMessage;
    return read_ignored(line);
  }
  const bool queued = skip("queued ");
  if (!queued && !skip("fetched ")) return "nothing that a host does";
  line.kind = queued ? RecordKind::kQueued : RecordKind::kFetched;
  return read_event(line);
}

std::string event_text(const TraceLine& line) {
  std::string text = "id=" + std::to_string(line.id) + " ";
  text += transport::short_event_name(line.event);
  if (line.listener != 0) text += " listener=" + std::to_string(line.listener);
  return text + " status=" + std::to_string(line.status) + line.text;
}

/// What of two lines at the same place is not the same.
std::string_view aspect(const TraceLine& left, const TraceLine& right) {
  if (left.time != right.time) return "time";
  if (left.host != right.host) return "host";
  if (left.kind != right.kind) return "kind";
  if (left.peer != right.peer) return "peer";
  if (left.cause != right.cause) return "cause";
  const auto event_of = [](const TraceLine& line) {
    return std::tuple(line.id, line.listener, line.event, line.status);
  };
  return event_of(left) != event_of(right) ? "event" : "text";
}

}  // namespace

std::string TraceLine::to_string() const {
  const std::string start = seconds_text(time.time_since_epoch()) + " ";
  switch (kind) {
    case RecordKind::kSend:
      return start + host + " -> " + peer + " " + text;
    case RecordKind::kDrop:
      return start + host + " drop" + (peer.empty() ? "" : " (" + peer + ")") + ": " + cause +
             ": " + text;
    case RecordKind::kDropMessage:
      return start + host + " ignores " + text + ": " + cause;
    case RecordKind::kQueued:
      return start + host + " queued " + event_text(*this);
    case RecordKind::kFetched:
      return start + host + " fetched " + event_text(*this);
    case RecordKind::kFault:
      return start + "FAULT " + text;
    case RecordKind::kChoice:
      return start + "CHOICE " + text;
    case RecordKind::kNote:
      return start + host + " note " + text;
  }
  return start;
}

std::string TraceError::to_string() const {
  return "line " + std::to_string(line) + ": " + reason;
}

std::optional<std::vector<TraceLine>> parse_trace(std::string_view text, TraceError& error) {
  std::vector<TraceLine> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    error.line = lines.size() + 1;
    if (end == text.npos) {
      error.reason = "does not end";
      return std::nullopt;
    }
    TraceLine& line = lines.emplace_back();
    error.reason = LineReader(text.substr(0, end)).read(line);
    const bool back = lines.size() > 1 && line.time < lines[lines.size() - 2].time;
    if (error.reason.empty() && back) error.reason = "time goes back";
    if (!error.reason.empty()) return std::nullopt;
    text.remove_prefix(end + 1);
  }
  error = {};
  return lines;
}

std::optional<TraceDifference> first_difference(const std::vector<TraceLine>& left,
                                                const std::vector<TraceLine>& right) {
  const auto [a, b] = std::mismatch(left.begin(), left.end(), right.begin(), right.end());
  if (a == left.end() && b == right.end()) return std::nullopt;
  TraceDifference difference;
  difference.line = static_cast<std::size_t>(a - left.begin()) + 1;
  const bool both = a != left.end() && b != right.end();
  difference.what = both ? aspect(*a, *b) : "end";
  if (a != left.end()) difference.left = a->to_string();
  if (b != right.end()) difference.right = b->to_string();
  return difference;
}

std::string TraceDifference::to_string() const {
  const auto shown = [](const std::string& each) { return each.empty() ? "(ends)" : each; };
  return "line " + std::to_string(line) + " differs in its " + what + ":\n- " + shown(left) +
         "\n+ " + shown(right) + "\n";
}

}  // namespace anyrdma::sim
