#include "transport/station/mishap_carrier.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "transport/realtime/progress_thread.h"
#include "verbs/soft/icrc.h"
#include "verbs/soft/mad_packet.h"
#include "verbs/soft/wire/headers.h"

namespace anyrdma::transport::station {
namespace {

using verbs::Instant;
using verbs::Mishap;
using verbs::PacketWay;
using verbs::soft::Packet;
using verbs::soft::PacketPtr;

/// How long a packet waits to be overtaken. Programs that take turns have nothing to send before it
/// arrives: they wait as long.
constexpr verbs::Duration kOvertakingPatience = std::chrono::milliseconds(20);

/// The datagram to QP1 in a packet that has all its bytes by itself; empty: there is none.
std::span<std::uint8_t> message_in(Packet& packet) {
  const auto mad = verbs::soft::mad_in(packet);
  if (!mad) return {};
  return {packet.storage.data() + (mad->data() - packet.storage.data()), mad->size()};
}

/// IBTA vol 1, 13.4.2: AttributeID, of any class; QP1 is the CM's.
std::uint16_t attribute_of(std::span<const std::uint8_t> mad) {
  constexpr std::size_t kAttributeAt = 16;
  if (mad.empty()) return 0;
  return static_cast<std::uint16_t>(mad[kAttributeAt] << 8 | mad[kAttributeAt + 1]);
}

}  // namespace

void MishapCarrier::send(PacketPtr packet) {
  if (gate_ == nullptr || below_->is_own(*packet)) return below_->send(std::move(packet));
  packet->keep_payload();
  send_on_its_way(PacketWay::kOut, std::move(packet));
}

void MishapCarrier::on_packet(PacketPtr packet) {
  if (gate_ == nullptr) return deliver_(std::move(packet));
  send_on_its_way(PacketWay::kIn, std::move(packet));
}

void MishapCarrier::send_on_its_way(PacketWay way, PacketPtr packet) {
  const std::span<std::uint8_t> message = message_in(*packet);
  const Mishap mishap = gate_->on_packet(way, attribute_of(message), message);
  if (mishap.lost) return;
  if (mishap.altered) make_whole(way, *packet);
  if (mishap.corrupted) corrupt(*packet, mishap.chance);
  if (mishap.overtaken && !has_straggler(way)) {
    return hold(way, std::move(packet), kOvertakingPatience, true);
  }
  for (std::uint32_t i = 0; i < mishap.copies; ++i) {
    PacketPtr twin = pool_.copy_of(*packet);
    if (mishap.late.count() == 0) {
      pass(way, std::move(twin));
    } else {
      hold(way, std::move(twin), mishap.late, false);
    }
  }
  if (mishap.late.count() != 0) return hold(way, std::move(packet), mishap.late, false);
  pass(way, std::move(packet));
  follow(way);
}

void MishapCarrier::pass(PacketWay way, PacketPtr packet) {
  if (way == PacketWay::kOut) return below_->send(std::move(packet));
  deliver_(std::move(packet));
}

/// The receiver's check finds no damage.
void MishapCarrier::make_whole(PacketWay way, Packet& packet) const {
  if (!std::exchange(packet.icrc_valid, false)) return;
  if (way == PacketWay::kIn) below_->seal(packet);
}

/// The receiver must see it. Where a UDP socket hides fields of the header from it, an ICRC can be
/// right by chance, and bytes of a program would be wrong.
void MishapCarrier::corrupt(Packet& packet, std::uint64_t chance) const {
  if (!packet.icrc_valid) below_->seal(packet);
  const std::size_t bits = (packet.size - roce::Bth::kBytes) * 8;
  do {
    const std::size_t bit = chance++ % bits;
    packet.storage[roce::Bth::kBytes + bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
  } while (roce::hidden_fields_of(packet));
}

// --- what is late -------------------------------------------------------------------------------

void MishapCarrier::hold(PacketWay way, PacketPtr packet, verbs::Duration by, bool overtaken) {
  late_.push_back({realtime::monotonic_now() + by, way, std::move(packet), overtaken});
}

bool MishapCarrier::has_straggler(PacketWay way) const {
  return std::ranges::any_of(late_,
                             [way](const Late& each) { return each.overtaken && each.way == way; });
}

void MishapCarrier::follow(PacketWay way) {
  const auto found = std::ranges::find_if(
      late_, [way](const Late& each) { return each.overtaken && each.way == way; });
  if (found == late_.end()) return;
  PacketPtr packet = std::move(found->packet);
  late_.erase(found);
  pass(way, std::move(packet));
}

/// Passing one on may bring others in.
bool MishapCarrier::release(Instant until) {
  bool any = false;
  for (;;) {
    const auto next = std::ranges::min_element(late_, {}, &Late::due);
    if (next == late_.end() || next->due > until) return any;
    const PacketWay way = next->way;
    PacketPtr packet = std::move(next->packet);
    late_.erase(next);
    pass(way, std::move(packet));
    any = true;
  }
}

bool MishapCarrier::poll() {
  const bool any = !late_.empty() && release(realtime::monotonic_now());
  return below_->poll() || any;
}

bool MishapCarrier::glance() {
  const bool any = !late_.empty() && release(realtime::monotonic_now());
  return below_->glance() || any;
}

std::optional<Instant> MishapCarrier::next_deadline() const {
  const std::optional<Instant> below = below_->next_deadline();
  if (late_.empty()) return below;
  return verbs::earlier(below, std::ranges::min_element(late_, {}, &Late::due)->due);
}

void MishapCarrier::flush(std::chrono::milliseconds limit) {
  std::erase_if(late_, [](const Late& each) { return each.way == PacketWay::kIn; });
  (void)release(Instant::max());
  below_->flush(limit);
}

void MishapCarrier::close() {
  late_.clear();
  below_->close();
}

void MishapCarrier::abandon() {
  late_.clear();
  below_->abandon();
}

}  // namespace anyrdma::transport::station
