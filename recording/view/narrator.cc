#include "recording/view/narrator.h"

#include <rdma/rdma_cma.h>

#include <algorithm>
#include <cstdio>

#include "base/number.h"
#include "base/text.h"
#include "recording/packets/fields.h"
#include "recording/packets/packet_text.h"
#include "recording/view/names.h"

namespace anyrdma::recording {
namespace {

constexpr std::string_view kStatePrefix = "RDMA_CM_";
constexpr std::string_view kDestroyed = "destroyed";
constexpr std::uint64_t kGsi = 1;
/// Recorders go to three. Deeper is made up.
constexpr unsigned kDepthMax = 8;
/// What has arrived just now was sent not so many records ago, or is not looked for.
constexpr std::size_t kLookBack = 10'000;

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::optional<std::uint64_t> number_in(const std::string& text) {
  const bool hex = text.starts_with("0x");
  return whole_number<std::uint64_t>(std::string_view(text).substr(hex ? 2 : 0), hex ? 16 : 10);
}

/// Takes a field out whose value is a number.
std::optional<std::uint64_t> take_field(Fields& fields, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const auto& each) { return each.first == name; });
  if (found == fields.end()) return std::nullopt;
  const auto number = number_in(found->second);
  if (number) fields.erase(found);
  return number;
}

std::string hex_number(std::uint64_t number) {
  std::string text;
  anyrdma::append(text, "0x%llx", static_cast<unsigned long long>(number));
  return text;
}

}  // namespace

std::string split_text(std::string_view text, Fields& fields) {
  std::string name;
  while (!text.empty()) {
    std::size_t end = text.find(' ');
    const std::size_t equals = text.find('=');
    const bool quoted = equals < end && equals + 1 < text.size() && text[equals + 1] == '"';
    if (quoted) {
      const std::size_t quote = text.find('"', equals + 2);
      end = quote == text.npos ? text.npos : quote + 1;
    }
    const std::string_view word = text.substr(0, end);
    text = end >= text.size() ? std::string_view() : text.substr(end + (text[end] == ' ' ? 1 : 0));
    if (word.empty()) continue;
    if (equals < word.size()) {
      std::string_view value = word.substr(equals + 1);
      if (quoted && value.size() >= 2) value = value.substr(1, value.size() - 2);
      fields.emplace_back(word.substr(0, equals), value);
    } else if (fields.empty()) {
      name += (name.empty() ? "" : " ") + std::string(word);
    } else {
      fields.emplace_back(word, "yes");
    }
  }
  return name;
}

void Narrator::take(const Entry& entry) {
  switch (entry.kind) {
    case EntryKind::kAbout:
      return on_about(entry);
    case EntryKind::kLane:
      return on_lane(entry);
    case EntryKind::kSent:
      return on_sent(entry);
    case EntryKind::kCopied:
      return on_copied(entry);
    case EntryKind::kArrives:
      return on_arrives(entry);
    case EntryKind::kLost:
      return on_lost(entry);
    case EntryKind::kIgnored:
      return on_ignored(entry);
    case EntryKind::kQueued:
    case EntryKind::kFetched:
    case EntryKind::kAcknowledged:
    case EntryKind::kCalled:
    case EntryKind::kGiven:
    case EntryKind::kIdState:
      return take_of_id(entry);
    case EntryKind::kPosted:
      return on_posted(entry);
    case EntryKind::kCompleted:
      return on_completed(entry);
    case EntryKind::kAsync:
      return on_async(entry);
    case EntryKind::kOpened:
    case EntryKind::kQueuePairState:
      return on_state(entry);
    case EntryKind::kWaited:
      return on_waited(entry);
    case EntryKind::kFault:
      return on_fault(entry);
    case EntryKind::kStruck:
      return on_struck(entry);
    case EntryKind::kNote:
      return on_note(entry);
    case EntryKind::kFinding:
    case EntryKind::kMistake:
      return on_finding(entry);
    case EntryKind::kMoment:
      return on_moment(entry);
    case EntryKind::kChosen:
      return on_chosen(entry);
    case EntryKind::kNewNumbers:
      ++generations_[entry.numbers[0]];
      return;
    case EntryKind::kRunning:
      return on_running(entry);
    case EntryKind::kPath:
    case EntryKind::kHeld:
    case EntryKind::kSharedQueue:
    case EntryKind::kKey:
    case EntryKind::kAtomic:
    case EntryKind::kTimers:
    case EntryKind::kLeft:
    case EntryKind::kUnheard:
    case EntryKind::kDisorder:
    case EntryKind::kGone:
    case EntryKind::kRest:
    case EntryKind::kClosing:
      return;  // for checkers
    case EntryKind::kEnd:
      return on_end(entry);
  }
}

void Narrator::on_running(const Entry& entry) {
  running_.reset();
  if (entry.numbers[0] != 0) running_ = lane_at(entry.numbers[0] - 1);
}

void Narrator::take_of_id(const Entry& entry) {
  switch (entry.kind) {
    case EntryKind::kQueued:
      return on_queued(entry);
    case EntryKind::kFetched:
      return on_fetched(entry);
    case EntryKind::kAcknowledged:
      return on_acknowledged(entry);
    case EntryKind::kCalled:
      return on_called(entry);
    case EntryKind::kIdState:
      return on_state(entry);
    case EntryKind::kGiven:
      if (entry.texts[0] == "reject") return;
      given_.emplace_back(story_.host_of(lane_at(entry.numbers[0])), entry.numbers[2],
                          id_lane(entry.numbers[0], entry.numbers[1]));
      return;
    default:  // take() gives no other
      return;
  }
}

void Narrator::on_end(const Entry& entry) {
  story_.verdict = entry.texts[0];
  if (story_.clock == kRealClock) return;  // no two runs are the same
  anyrdma::append(story_.hash, "%016llx", static_cast<unsigned long long>(entry.numbers[0]));
}

// --- the run ------------------------------------------------------------------------------------

void Narrator::on_about(const Entry& entry) {
  const std::string_view key = entry.texts[0];
  const std::string value(entry.texts[1]);
  if (key == "plan") return story_.plan.push_back(value);
  if (key == "fault") return story_.faults.push_back(value);
  if (key == "clock") story_.clock = value;
  if (key == "seed") story_.seed = value;
  if (key == "command") story_.command = value;
  if (key == "program") story_.program = value;
  if (key == "build") story_.build = value;
  if (key == "began") story_.began = value;
}

// --- lanes --------------------------------------------------------------------------------------

std::size_t Narrator::add_lane(std::string of, std::string name, std::optional<std::size_t> in) {
  story_.lanes.push_back({.of = std::move(of), .name = std::move(name), .in = in});
  last_in_.emplace_back();
  return story_.lanes.size() - 1;
}

void Narrator::on_lane(const Entry& entry) {
  std::optional<std::size_t> in;
  if (entry.numbers[0] != 0) in = lane_at(entry.numbers[0] - 1);
  unsigned depth = 0;
  for (auto above = in; above; above = story_.lanes[*above].in) ++depth;
  if (depth > kDepthMax) in.reset();
  lanes_.push_back(add_lane(std::string(entry.texts[0]), std::string(entry.texts[1]), in));
}

std::size_t Narrator::any_lane() {
  return story_.lanes.empty() ? add_lane("host", "-", std::nullopt) : 0;
}

/// The one whose name is longest of those that the text has.
std::size_t Narrator::lane_named_in(std::string_view text) {
  std::optional<std::size_t> best;
  for (std::size_t i = 0; i < story_.lanes.size(); ++i) {
    const std::string& name = story_.lanes[i].name;
    if (name.empty() || text.find(name) == text.npos) continue;
    if (!best || name.size() > story_.lanes[*best].name.size()) best = i;
  }
  return best ? *best : any_lane();
}

std::size_t Narrator::id_lane(std::uint64_t owner, std::uint64_t id) {
  const std::uint64_t generation = generations_[owner];
  const auto [found, fresh] = ids_.try_emplace({owner, generation, id}, 0);
  if (fresh) {
    const std::size_t in = lane_at(owner);
    found->second = add_lane("id", story_.lanes[in].name + "#" + std::to_string(id), in);
  }
  return found->second;
}

/// By its number on its host: a device that says more, and packets, mean the same one.
std::size_t Narrator::qp_lane(std::uint64_t owner, std::uint64_t number) {
  const std::size_t host = story_.host_of(lane_at(owner));
  const auto [found, fresh] = qps_.try_emplace({host, number}, 0);
  if (fresh) {
    found->second =
        add_lane("qp", story_.lanes[host].name + "#qp" + hex_number(number), lane_at(owner));
  }
  return found->second;
}

/// The thread that runs, if it is the owner's.
std::size_t Narrator::here(std::uint64_t owner) const {
  const std::size_t lane = lane_at(owner);
  if (!running_ || story_.host_of(*running_) != story_.host_of(lane)) return lane;
  return *running_;
}

Record& Narrator::add(const Entry& entry, RecordKind kind, std::size_t lane) {
  last_in_[lane] = story_.records.size();
  Record& record = story_.records.emplace_back();
  record.time = entry.time.time_since_epoch();
  record.lane = lane;
  record.kind = kind;
  return record;
}

// --- messages -----------------------------------------------------------------------------------

void Narrator::on_sent(const Entry& entry) {
  FieldReader reader(bytes_of(entry.texts[1]));
  std::string text;
  append_packet(text, reader);
  messages_.push_back({.record = story_.records.size(), .copied_to = std::nullopt});
  Record& record = add(entry, RecordKind::kMessage, lane_at(entry.numbers[0]));
  record.name = split_text(text, record.fields);
  record.packet = std::string(entry.texts[0]) + std::string(entry.texts[1]);
  record.udp_source_port = static_cast<std::uint16_t>(entry.numbers[2]);
  if (entry.numbers[1] != 0) record.to = lane_at(entry.numbers[1] - 1);
  const bool data = record.name.find(' ') != std::string::npos;  // "RC SEND Only", but "REQ"
  if (!data) return;
  record.psn = take_field(record.fields, "psn");
  record.bytes = take_field(record.fields, "length");
  const auto qp = std::find_if(record.fields.begin(), record.fields.end(),
                               [](const auto& each) { return each.first == "qpn"; });
  if (qp == record.fields.end() || !record.to) return;
  const auto number = number_in(qp->second);
  const std::uint64_t to = entry.numbers[1] - 1;
  const std::size_t at = messages_.back().record;
  if (number && *number > kGsi) {
    const std::size_t lane = qp_lane(to, *number);
    story_.records[at].about.push_back(lane);
  }
}

// A group's message goes nowhere itself: its first copy is it.
void Narrator::on_copied(const Entry& entry) {
  const std::size_t original = messages_[entry.numbers[0]].record;
  if (entry.numbers[1] != 0 && !story_.records[original].to) {
    story_.records[original].to = lane_at(entry.numbers[1] - 1);
    messages_.push_back({.record = original, .copied_to = entry.numbers[1] - 1});
    return;
  }
  Record copy = story_.records[original];
  copy.time = entry.time.time_since_epoch();
  copy.same = original;
  copy.arrives.reset();
  copy.fate.clear();
  if (entry.numbers[1] != 0) copy.to = lane_at(entry.numbers[1] - 1);
  messages_.push_back({.record = story_.records.size(), .copied_to = std::nullopt});
  last_in_[copy.lane] = story_.records.size();
  story_.records.push_back(std::move(copy));
}

void Narrator::on_arrives(const Entry& entry) {
  Record& record = story_.records[messages_[entry.numbers[0]].record];
  record.arrives = entry.time.time_since_epoch() + Duration(entry.numbers[1]);
}

void Narrator::on_lost(const Entry& entry) {
  Record& record = story_.records[messages_[entry.numbers[0]].record];
  const bool arrived = record.arrives && *record.arrives <= entry.time.time_since_epoch();
  record.fate = (arrived ? "dropped: " : "lost: ") + std::string(entry.texts[0]);
  if (!arrived) record.arrives.reset();
}

/// It is the last such message that has come to the host.
void Narrator::on_ignored(const Entry& entry) {
  const std::size_t host = story_.host_of(lane_at(entry.numbers[0]));
  const Duration now = entry.time.time_since_epoch();
  const std::size_t last = story_.records.size();
  for (std::size_t i = last; i > 0 && i + kLookBack > last;) {
    Record& record = story_.records[--i];
    if (record.kind != RecordKind::kMessage || record.to != host || record.arrives != now ||
        !record.fate.empty() || record.name.find(' ') != std::string::npos)
      continue;
    record.fate = "dropped: " + std::string(entry.texts[0]);
    return;
  }
  Record& note = add(entry, RecordKind::kNote, lane_at(entry.numbers[0]));
  note.name = "ignores a message: " + std::string(entry.texts[0]);
}

// --- events -------------------------------------------------------------------------------------

namespace {

/// What librdmacm does before an event is fetched can fail, or finish the connection
/// (rdma_get_cm_event in rdma-core's cma.c).
bool turns_into(std::uint64_t queued, std::uint64_t fetched) {
  switch (queued) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      return fetched == RDMA_CM_EVENT_ADDR_ERROR;
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      return fetched == RDMA_CM_EVENT_ROUTE_ERROR;
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
      return fetched == RDMA_CM_EVENT_ESTABLISHED || fetched == RDMA_CM_EVENT_CONNECT_ERROR;
    case RDMA_CM_EVENT_MULTICAST_JOIN:
      return fetched == RDMA_CM_EVENT_MULTICAST_ERROR;
    default:
      return false;
  }
}

}  // namespace

void Narrator::on_queued(const Entry& entry) {
  const auto& n = entry.numbers;
  const std::size_t id = id_lane(n[0], n[1]);
  const std::size_t owes = n[2] == 0 ? id : id_lane(n[0], n[2]);
  queued_[id].push_back({.record = story_.records.size(), .type = n[3], .owes = owes});
  Record& record = add(entry, RecordKind::kEvent, owes);
  record.name = cm_event_name(n[3]);
  record.status = std::to_string(entry.signed_number(4));
  record.about.push_back(id);
  if (owes != id) record.about.push_back(owes);
  if (entry.texts[0].empty()) return;
  FieldReader reader(bytes_of(entry.texts[0]));
  std::string text;
  append_parameters(text, reader);
  (void)split_text(text, record.fields);
}

void Narrator::on_fetched(const Entry& entry) {
  const std::uint64_t type = entry.numbers[2];
  auto& waiting = queued_[id_lane(entry.numbers[0], entry.numbers[1])];
  auto found = std::find_if(waiting.begin(), waiting.end(),
                            [&](const Pending& each) { return each.type == type; });
  const bool turned = found == waiting.end();
  if (turned) {
    found = std::find_if(waiting.begin(), waiting.end(),
                         [&](const Pending& each) { return turns_into(each.type, type); });
  }
  if (found == waiting.end()) return;
  Record& record = story_.records[found->record];
  record.fetched = entry.time.time_since_epoch();
  if (turned) record.fields.emplace_back("fetched as", cm_event_name(type));
  fetched_[found->owes].push_back(*found);
  waiting.erase(found);
}

// Nothing says which of an id's events it is: the oldest.
void Narrator::on_acknowledged(const Entry& entry) {
  auto& waiting = fetched_[id_lane(entry.numbers[0], entry.numbers[1])];
  if (waiting.empty()) return;
  story_.records[waiting.front().record].acknowledged = entry.time.time_since_epoch();
  waiting.pop_front();
}

// --- calls and work -----------------------------------------------------------------------------

void Narrator::on_called(const Entry& entry) {
  const std::size_t id = id_lane(entry.numbers[0], entry.numbers[1]);
  Record& record = add(entry, RecordKind::kCall, here(entry.numbers[0]));
  record.name = call_name(entry.texts[0]);
  record.ends = record.time;
  record.result = result_text(entry.numbers[2]);
  record.about.push_back(id);
  if (entry.texts[0] != "destroy" || entry.numbers[2] != 0) return;
  add(entry, RecordKind::kState, id).name = kDestroyed;
}

void Narrator::on_posted(const Entry& entry) {
  const auto& n = entry.numbers;
  const std::string_view operation = entry.texts[0];
  std::optional<std::size_t> qp;
  if (n[1] != 0) qp = qp_lane(n[0], n[1]);
  Record& record = add(entry, RecordKind::kCall, here(n[0]));
  record.name = operation == "RECV"       ? "ibv_post_recv"
                : operation == "SRQ_RECV" ? "ibv_post_srq_recv"
                                          : "ibv_post_send";
  record.ends = record.time;
  record.result = "0";
  if (qp) record.about.push_back(*qp);
  if (record.name == "ibv_post_send") record.fields.emplace_back("opcode", operation);
  record.fields.emplace_back("wr_id", hex_number(n[2]));
  record.fields.emplace_back("bytes", std::to_string(n[3]));
}

void Narrator::on_completed(const Entry& entry) {
  const auto& n = entry.numbers;
  const std::size_t qp = qp_lane(n[0], n[1]);
  Record& record = add(entry, RecordKind::kCompletion, here(n[0]));
  record.status = completion_status(n[4]);
  const bool good = n[4] == 0;
  record.name = good ? completion_name(n[3]) : "IBV_WC_ERROR";
  record.ends = record.time;
  record.about.push_back(qp);
  record.fields.emplace_back("wr_id", hex_number(n[2]));
  if (good) record.fields.emplace_back("byte_len", std::to_string(n[5]));
}

void Narrator::on_async(const Entry& entry) {
  const auto& n = entry.numbers;
  std::optional<std::size_t> qp;
  if (n[2] != 0) qp = qp_lane(n[0], n[2]);
  Record& record = add(entry, RecordKind::kEvent, qp.value_or(lane_at(n[0])));
  record.name = async_event_name(n[1]);
  if (qp) record.about.push_back(*qp);
}

void Narrator::on_state(const Entry& entry) {
  const bool of_id = entry.kind == EntryKind::kIdState;
  const std::size_t lane = of_id ? id_lane(entry.numbers[0], entry.numbers[1])
                                 : qp_lane(entry.numbers[0], entry.numbers[1]);
  std::string_view state = entry.kind == EntryKind::kOpened ? "RESET" : entry.texts[0];
  if (of_id && state.starts_with(kStatePrefix)) state.remove_prefix(kStatePrefix.size());
  add(entry, RecordKind::kState, lane).name = state;
}

// A wait that the end of a run had found is told again when it ends after all.
void Narrator::on_waited(const Entry& entry) {
  const std::size_t lane = lane_at(entry.numbers[0]);
  const Duration end = entry.time.time_since_epoch();
  const Duration begin = end - Duration(entry.numbers[1]);
  const auto [found, fresh] = waits_.try_emplace({lane, begin}, story_.records.size());
  if (fresh) {
    Record& record = add(entry, RecordKind::kWait, lane);
    record.time = begin;
    record.name = "waits";
    record.purpose = entry.texts[0];
    if (!entry.texts[1].empty()) record.fields.emplace_back("details", entry.texts[1]);
  }
  if (entry.numbers[2] != 0) story_.records[found->second].ends = end;
}

// --- faults, notes, findings --------------------------------------------------------------------

void Narrator::on_fault(const Entry& entry) {
  last_fault_ = story_.records.size();
  const std::size_t lane = lane_named_in(entry.texts[0]);
  add(entry, RecordKind::kFault, story_.host_of(lane)).name = entry.texts[0];
}

void Narrator::on_struck(const Entry& entry) {
  if (!last_fault_) return;
  Record& fault = story_.records[*last_fault_];
  fault.strikes.push_back(messages_[entry.numbers[0]].record);
  fault.lane = story_.records[fault.strikes.back()].lane;
}

void Narrator::on_note(const Entry& entry) {
  const std::size_t lane = entry.numbers[0] == 0 ? any_lane() : lane_at(entry.numbers[0] - 1);
  Record& record = add(entry, RecordKind::kNote, lane);
  record.name = entry.texts[0];
  if (entry.numbers[1] != 0) record.stream = entry.numbers[1] == 1 ? "out" : "err";
}

void Narrator::on_finding(const Entry& entry) {
  const bool mistake = entry.kind == EntryKind::kMistake;
  const std::size_t lane = mistake ? here(entry.numbers[0]) : lane_named_in(entry.texts[0]);
  Record& record = add(entry, RecordKind::kFinding, lane);
  record.name = (mistake ? "misuse: " : "") + std::string(entry.texts[0]);
  std::string_view stack = entry.texts[1];
  while (!stack.empty()) {
    const std::size_t end = stack.find('\n');
    if (end != 0) record.stack.emplace_back(stack.substr(0, end));
    stack = end == stack.npos ? std::string_view() : stack.substr(end + 1);
  }
}

/// As a trial has it: "given 421:1".
void Narrator::on_chosen(const Entry& entry) {
  const auto& n = entry.numbers;
  Record& record = add(entry, RecordKind::kChoice, n[0] == 0 ? any_lane() : lane_at(n[0] - 1));
  record.name = std::to_string(n[1]) + ":" + std::to_string(n[2]);
  if (n[0] == 0) record.fields.emplace_back("goes-on", "network");
}

void Narrator::on_moment(const Entry& entry) {
  if (story_.records.empty()) return;
  std::size_t at = story_.records.size() - 1;
  if (entry.numbers[0] != 0) at = last_in_[lane_at(entry.numbers[0] - 1)].value_or(at);
  story_.moments.push_back(
      {.time = story_.records[at].time, .at = at, .why = std::string(entry.texts[0])});
}

}  // namespace anyrdma::recording
