#include "sim/link.h"

#include <algorithm>
#include <utility>

#include "recording/packets/packet_fields.h"
#include "recording/packets/packet_text.h"
#include "sim/host.h"
#include "sim/recorder.h"
#include "sim/world.h"

namespace anyrdma::sim {
namespace {

using verbs::soft::Packet;
using verbs::soft::PacketPtr;

/// Bytes on the wire besides the UDP payload: preamble, Ethernet with FCS, gap, IPv4 and UDP.
constexpr std::uint64_t kFramingBytes = 8 + 14 + 4 + 12 + 20 + 8;

Duration time_on_wire(const Packet& packet, std::uint64_t bits_per_second) {
  constexpr std::uint64_t kNanoseconds = 1'000'000'000;
  const std::uint64_t bits = (packet.size + kFramingBytes) * 8;
  return Duration((bits * kNanoseconds + bits_per_second - 1) / bits_per_second);
}

bool is_plain(const LinkOptions& options) {
  return options.loss <= 0 && options.duplicate <= 0 && options.reorder <= 0 &&
         options.jitter <= Duration::zero() && options.bits_per_second == 0 && !options.down &&
         !options.clogged;
}

std::string arrival_text(const Host& from, const Host& to, const Packet& packet) {
  std::string text = "a packet from " + from.name() + " arrives at " + to.name() + ": ";
  const recording::FieldWriter fields = recording::fields_of(packet);
  recording::FieldReader reader(fields.bytes());
  constexpr std::size_t kGids = 2 * sizeof(ibv_gid);
  (void)reader.take_bytes(kGids);
  recording::append_packet(text, reader);
  return text;
}

Duration part_of(Duration whole, RandomStream& random) {
  if (whole <= Duration::zero()) return Duration::zero();
  return Duration(random.below(static_cast<std::uint64_t>(whole.count())));
}

}  // namespace

Link::Link(World& world, Host& from, Host& to, const LinkOptions& options)
    : world_(world),
      from_(from),
      to_(to),
      options_(options),
      plain_(is_plain(options)),
      random_(world.seeds(), "link " + from.name() + "->" + to.name()) {
  set_lane((std::uint32_t{static_cast<std::uint16_t>(from.index())} << 16 |
            static_cast<std::uint16_t>(to.index())) +
           1);
}

/// A packet that lets the next one pass.
class Link::Straggler final : public Task {
 public:
  explicit Straggler(Link& link) : link_(link) {}

  Waiting waiting{};

 private:
  void run() override { link_.follow(link_.world_.now() + link_.options_.latency); }

  Link& link_;
};

Link::~Link() {
  world_.scheduler().cancel(*this);
  if (straggler_ != nullptr) world_.scheduler().cancel(*straggler_);
}

void Link::set(const LinkOptions& options) {
  const bool opens = options_.clogged && !options.clogged;
  options_ = options;
  plain_ = is_plain(options);
  if (!opens) return;
  for (Waiting& each : std::exchange(waiting_, {})) {
    launch(arrival_of(*each.packet), each.interface, std::move(each.packet));
  }
}

bool Link::hold_back(std::size_t interface, PacketPtr& packet) {
  if (options_.down || options_.clogged) return false;
  if (straggler_ == nullptr) straggler_ = std::make_unique<Straggler>(*this);
  if (straggler_->armed()) return false;
  straggler_->waiting = {interface, std::move(packet)};
  world_.scheduler().at(*straggler_, world_.now() + options_.reorder_delay);
  return true;
}

/// What was held back comes behind what has just been sent.
void Link::follow(Instant arrival) {
  world_.scheduler().cancel(*straggler_);
  launch(arrival, straggler_->waiting.interface, std::move(straggler_->waiting.packet));
}

bool Link::carry(std::size_t interface, PacketPtr& packet, Duration late) {
  if (!plain_) {
    if (options_.clogged) {
      waiting_.push_back({interface, std::move(packet)});
      return true;
    }
    if (random_.chance(options_.loss)) return false;
    if (random_.chance(options_.duplicate)) {
      world_.note_disorder();
      PacketPtr twin = world_.copy_of(*packet, to_);
      const Instant arrival = arrival_of(*twin);
      launch(arrival + late, interface, std::move(twin));
    }
  }
  const Instant arrival = arrival_of(*packet);
  launch(arrival + late, interface, std::move(packet));
  if (straggler_ != nullptr && straggler_->armed()) follow(arrival + late);
  return true;
}

Instant Link::arrival_of(const Packet& packet) {
  if (plain_) return last_arrival_ = std::max(last_arrival_, world_.now() + options_.latency);
  Instant leaves = world_.now();
  if (options_.bits_per_second != 0) {
    leaves = std::max(leaves, wire_free_) + time_on_wire(packet, options_.bits_per_second);
    wire_free_ = leaves;
  }
  const Instant arrival = leaves + options_.latency + part_of(options_.jitter, random_);
  if (random_.chance(options_.reorder)) {
    world_.note_disorder();
    return arrival + part_of(options_.reorder_delay, random_);
  }
  last_arrival_ = std::max(last_arrival_, arrival);
  return last_arrival_;
}

void Link::launch(Instant arrival, std::size_t interface, PacketPtr&& packet) {
  if (world_.recorder() != nullptr) world_.recorder()->launched(*packet, arrival);
  Scheduler& scheduler = world_.scheduler();
  const bool first = under_way_.empty();
  if (first || under_way_.back().arrival <= arrival) {
    const std::uint64_t turn = scheduler.take_turn();
    under_way_.push_back({arrival, turn, interface, std::move(packet)});
    if (first) scheduler.at(*this, arrival, turn);
    return;
  }
  Flight& flight = world_.take_flight();
  flight.from_ = &from_;
  flight.to_ = &to_;
  flight.interface_ = interface;
  flight.packet_ = std::move(packet);
  flight.set_lane(lane());
  scheduler.at(flight, arrival);
}

// As a device does with what comes in a burst: it takes all of it in, then answers, with one
// acknowledgement where one is enough. Where packets have a fate, of the link's making or of the
// fault plan's, each is taken in and answered by itself.
void Link::run() {
  bool taken_in = false;
  do {
    InFlight landing = under_way_.pop_front();
    if (!under_way_.empty()) under_way_.front().packet->prefetch();
    taken_in |= to_.receive(landing.interface, from_, std::move(landing.packet));
  } while (another_lands_now());
  if (!under_way_.empty()) {
    const InFlight& next = under_way_.front();
    world_.scheduler().at(*this, next.arrival, next.turn);
  }
  if (taken_in) to_.leave();
}

bool Link::another_lands_now() {
  if (under_way_.empty() || !plain_ || !to_.takes_more()) return false;
  const InFlight& next = under_way_.front();
  return world_.scheduler().comes_next(next.arrival, next.turn) &&
         !world_.faults().watches_packets();
}

std::string Link::what() {
  return arrival_text(from_, to_, *under_way_.front().packet);
}

std::string Flight::what() {
  return arrival_text(*from_, *to_, *packet_);
}

void Flight::run() {
  world_.land(*this);
}

}  // namespace anyrdma::sim
