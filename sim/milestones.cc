#include "sim/milestones.h"

#include <algorithm>

#include "recording/work/observer.h"
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

/// Of a host's fibers.
class Milestones::Device final : private recording::WorkSink {
 public:
  Device(Milestones& milestones, std::string_view host, verbs::soft::HcaObserver* next)
      : milestones_(milestones), host_(host), observer_(*this, next) {}
  [[nodiscard]] verbs::soft::HcaObserver* observer() { return &observer_; }

 private:
  void on_queue_pair(const recording::QueuePairState& state) override {
    milestones_.on_queue_pair(host_, state);
  }
  void on_work(const recording::PostedWork& work) override { milestones_.on_work(host_, work); }
  void on_completion(const recording::TakenCompletion& completion) override {
    milestones_.on_completion(host_, completion);
  }
  void on_async(const recording::RaisedEvent& event) override {
    milestones_.on_async(host_, event);
  }

  Milestones& milestones_;
  std::string host_;
  recording::WorkObserver observer_;
};

Milestones::Milestones(Coverage& coverage) : coverage_(coverage) {}

Milestones::~Milestones() = default;

verbs::soft::HcaObserver* Milestones::watch(std::string_view host, verbs::soft::HcaObserver* next) {
  return devices_.emplace_back(std::make_unique<Device>(*this, host, next))->observer();
}

void Milestones::milestone(std::uint64_t thing) {
  coverage_.add_milestone(thing);
  follow(thing);
}

void Milestones::follow(std::uint64_t thing) {
  coverage_.add(name_of_thing(Thing::kPair, last_, thing));
  last_ = thing;
}

// --- ids ----------------------------------------------------------------------------------------

void Milestones::on_state(std::string_view who, std::uint64_t id, std::string_view state) {
  states_[mix(hash_text(who), id)] = hash_text(state);
  follow(name_of_thing(Thing::kState, hash_text(who), hash_text(state)));
}

void Milestones::on_event(std::string_view who, std::uint64_t id,
                          transport::EventObserver::Step step, rdma_cm_event_type type) {
  const std::uint64_t state = states_[mix(hash_text(who), id)];
  milestone(name_of_thing(Thing::kEvent, hash_text(who), state, static_cast<std::uint64_t>(step),
                          static_cast<std::uint64_t>(type)));
}

void Milestones::on_call(std::string_view who, std::uint64_t id, std::string_view call, int error) {
  const std::uint64_t thing = name_of_thing(Thing::kCall, hash_text(who), hash_text(call),
                                            static_cast<std::uint64_t>(error));
  if (error == 0) return follow(thing);
  milestone(mix(thing, states_[mix(hash_text(who), id)]));
}

// --- work ---------------------------------------------------------------------------------------

void Milestones::on_queue_pair(std::string_view who, const recording::QueuePairState& state) {
  states_[name_of_thing(Thing::kWork, hash_text(who), std::uint64_t{state.qp_num})] =
      hash_text(state.state);
  follow(name_of_thing(Thing::kState, hash_text(who), hash_text(state.state)));
}

void Milestones::on_work(std::string_view who, const recording::PostedWork& work) {
  follow(name_of_thing(Thing::kWork, hash_text(who), hash_text(work.operation)));
}

void Milestones::on_completion(std::string_view who, const recording::TakenCompletion& completion) {
  const std::uint64_t state =
      states_[name_of_thing(Thing::kWork, hash_text(who), std::uint64_t{completion.qp_num})];
  milestone(name_of_thing(Thing::kCompletion, hash_text(who), state, completion.opcode,
                          completion.status));
}

void Milestones::on_async(std::string_view who, const recording::RaisedEvent& event) {
  milestone(name_of_thing(Thing::kAsync, hash_text(who), event.type));
}

// --- processes ----------------------------------------------------------------------------------

void Milestones::on_told(std::string_view process, const fault::Question& what) {
  using Kind = fault::Question::Kind;
  using Step = transport::EventObserver::Step;
  const auto type = static_cast<rdma_cm_event_type>(what.event);
  switch (what.kind) {
    case Kind::kQueued:
      return on_event(process, what.id, Step::kQueued, type);
    case Kind::kFetched:
      return on_event(process, what.id, Step::kFetched, type);
    case Kind::kMade:
    case Kind::kRefused:
      return on_call(process, what.id, what.text(), what.status);
    case Kind::kState:
      return on_state(process, what.id, what.text());
    case Kind::kQueuePair:
      return on_queue_pair(process, {.qp_num = what.work.qp_num, .state = what.text()});
    case Kind::kPosted:
      return on_work(process, {.qp_num = what.work.qp_num, .operation = what.text()});
    case Kind::kTaken:
      return on_completion(process, {.qp_num = what.work.qp_num,
                                     .opcode = what.code,
                                     .status = static_cast<std::uint64_t>(what.status)});
    case Kind::kRaised:
      return on_async(process, {.type = static_cast<std::uint64_t>(what.event)});
    case Kind::kOpened:
    case Kind::kRequest:
    case Kind::kCall:
    case Kind::kWork:
    case Kind::kFailure:
    case Kind::kTake:
    case Kind::kAcknowledged:
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
