#include "sim/milestones.h"

#include <algorithm>

#include "sim/trace/hash.h"
#include "sim/world.h"
#include "verbs/soft/wire/extended.h"
#include "verbs/soft/wire/opcode.h"

namespace anyrdma::sim {
namespace {

/// Kinds of things, so that no two have the same number by chance.
enum class Thing : std::uint64_t {
  kState,
  kEvent,
  kCall,
  kWork,
  kCompletion,
  kAsync,
  kNak,
  kAgain,
  kCrossing,
  kPair,
  kPacket,
  kFault
};

template <class... Parts>
std::uint64_t name_of_thing(Thing thing, Parts... parts) {
  std::uint64_t hash = static_cast<std::uint64_t>(thing) + 1;
  ((hash = mix(hash, parts)), ...);
  return hash;
}

constexpr std::uint32_t kPsns = 1 << 24;

std::uint32_t number24(const std::uint8_t* bytes) {
  return static_cast<std::uint32_t>(bytes[0] << 16 | bytes[1] << 8 | bytes[2]);
}

std::uint32_t number32(const std::uint8_t* bytes) {
  return static_cast<std::uint32_t>(bytes[0]) << 24 | number24(bytes + 1);
}

constexpr std::uint16_t kDreq = 0x15;
constexpr std::uint16_t kDrep = 0x16;

}  // namespace

Milestones::Milestones(Coverage& coverage) : coverage_(coverage) {}

Milestones::~Milestones() = default;

void Milestones::milestone(std::uint64_t thing) {
  coverage_.add_milestone(thing);
  follow(thing);
}

void Milestones::follow(std::uint64_t thing) {
  coverage_.add(name_of_thing(Thing::kPair, last_, thing));
  last_ = thing;
}

// --- ids ----------------------------------------------------------------------------------------

void Milestones::on_state(std::uint64_t who, std::uint64_t id, std::string_view state) {
  states_[mix(who, id)] = hash_text(state);
  follow(name_of_thing(Thing::kState, who, hash_text(state)));
}

void Milestones::on_event(std::uint64_t who, std::uint64_t id, transport::EventObserver::Step step,
                          std::uint64_t type) {
  const std::uint64_t state = states_[mix(who, id)];
  milestone(name_of_thing(Thing::kEvent, who, state, static_cast<std::uint64_t>(step), type));
}

void Milestones::on_call(std::uint64_t who, std::uint64_t id, std::string_view call,
                         std::uint64_t error) {
  const std::uint64_t thing = name_of_thing(Thing::kCall, who, hash_text(call), error);
  if (error == 0) return follow(thing);
  milestone(mix(thing, states_[mix(who, id)]));
}

// --- work ---------------------------------------------------------------------------------------

void Milestones::on_queue_pair(std::uint64_t who, std::uint64_t qp, std::string_view state) {
  states_[name_of_thing(Thing::kWork, who, qp)] = hash_text(state);
  follow(name_of_thing(Thing::kState, who, hash_text(state)));
}

void Milestones::on_completion(std::uint64_t who, std::uint64_t qp, std::uint64_t opcode,
                               std::uint64_t status) {
  const std::uint64_t state = states_[name_of_thing(Thing::kWork, who, qp)];
  milestone(name_of_thing(Thing::kCompletion, who, state, opcode, status));
}

// --- entries ------------------------------------------------------------------------------------

/// What a device does, its host does.
void Milestones::on_lane(const recording::Entry& entry) {
  const bool of_device = entry.texts[0] == "device" && entry.numbers[0] != 0;
  lanes_.push_back(of_device ? lanes_[entry.numbers[0] - 1] : hash_text(entry.texts[1]));
}

void Milestones::on_entry(const recording::Entry& entry) {
  using recording::EntryKind;
  using Step = transport::EventObserver::Step;
  if (entry.kind == EntryKind::kLane) return on_lane(entry);
  const auto& n = entry.numbers;
  const std::uint64_t who = n[0] < lanes_.size() ? lanes_[n[0]] : 0;
  switch (entry.kind) {
    case EntryKind::kQueued:
      return on_event(who, n[1], Step::kQueued, n[3]);
    case EntryKind::kFetched:
      return on_event(who, n[1], Step::kFetched, n[2]);
    case EntryKind::kCalled:
      return on_call(who, n[1], entry.texts[0], n[2]);
    case EntryKind::kIdState:
      return on_state(who, n[1], entry.texts[0]);
    case EntryKind::kOpened:
      return on_queue_pair(who, n[1], "RESET");
    case EntryKind::kQueuePairState:
      return on_queue_pair(who, n[1], entry.texts[0]);
    case EntryKind::kPosted:
      return follow(name_of_thing(Thing::kWork, who, hash_text(entry.texts[0])));
    case EntryKind::kCompleted:
      return on_completion(who, n[1], n[3], n[4]);
    case EntryKind::kAsync:
      return milestone(name_of_thing(Thing::kAsync, who, n[1]));
    default:  // no other kind is a step of a program
      return;
  }
}

void Milestones::on_fault(std::uint64_t kind) {
  milestone(name_of_thing(Thing::kFault, kind));
}

// --- packets ------------------------------------------------------------------------------------

void Milestones::on_packet(std::string_view from, std::string_view to,
                           const verbs::soft::Packet& packet) {
  if (packet.ip_protocol != 0 || packet.size < roce::Bth::kBytes + roce::Aeth::kBytes) return;
  const std::uint8_t* const bytes = packet.storage.data();
  const std::uint8_t opcode = bytes[0];
  const std::uint64_t way = mix(hash_text(from), hash_text(to));
  if (const std::uint16_t attribute = cm_attribute(packet); attribute != 0) {
    if (attribute == kDreq || attribute == kDrep) on_dreq(way, packet, attribute == kDrep);
    return follow(name_of_thing(Thing::kPacket, way, std::uint64_t{attribute}));
  }
  if (opcode != roce::kRcAcknowledge) return on_request_packet(way, packet);
  const std::uint8_t syndrome = bytes[roce::Bth::kBytes];
  constexpr std::uint8_t kKind = 0x60;  // 0 is an acknowledgement; below, credits or a timer
  constexpr std::uint8_t kRnr = 0x20;
  if ((syndrome & kKind) == 0) return;
  const std::uint8_t code = (syndrome & kKind) == kRnr ? kRnr : syndrome;
  milestone(name_of_thing(Thing::kNak, way, std::uint64_t{code}));
}

// A PSN that is not above all before it, as the sequence numbers of a reliable connection go.
void Milestones::on_request_packet(std::uint64_t way, const verbs::soft::Packet& packet) {
  const std::uint8_t* const bytes = packet.storage.data();
  const std::uint8_t opcode = bytes[0];
  if (opcode > roce::kRcSendOnlyInvalidate) return;
  if (opcode >= roce::kRcReadResponseFirst && opcode <= roce::kRcAtomicAcknowledge) return;
  const std::uint32_t psn = number24(bytes + 9);
  const auto [highest, is_new] = psns_.try_emplace(mix(way, number24(bytes + 5)), psn);
  if (is_new) return;
  const std::uint32_t ahead = (psn - highest->second) % kPsns;
  if (ahead == 0 || ahead > kPsns / 2)
    return milestone(name_of_thing(Thing::kAgain, way, std::uint64_t{opcode}));
  highest->second = psn;
}

// Both ends ask for the end before either has heard of the other's wish.
void Milestones::on_dreq(std::uint64_t way, const verbs::soft::Packet& packet, bool is_answer) {
  constexpr std::size_t kMadAt = roce::offset_of(roce::kUdSendOnly, roce::kDeth) + 8;
  constexpr std::size_t kIdsAt = kMadAt + 24;
  const std::uint32_t local = number32(packet.storage.data() + kIdsAt);
  const std::uint32_t remote = number32(packet.storage.data() + kIdsAt + 4);
  const std::uint64_t asked = mix(local, remote);
  const std::uint64_t asked_back = mix(remote, local);
  if (is_answer) {
    dreqs_.erase(asked_back);
    return;
  }
  dreqs_[asked] = true;
  if (dreqs_.contains(asked_back)) milestone(name_of_thing(Thing::kCrossing, way));
}

}  // namespace anyrdma::sim
