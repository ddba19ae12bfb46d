#include "transport/fabric/member_carrier.h"

#include <algorithm>
#include <array>
#include <utility>

#include "transport/fabric/device_message.h"
#include "transport/ibcm/wire/rej.h"
#include "transport/realtime/progress_thread.h"
#include "verbs/assert.h"
#include "verbs/soft/icrc.h"
#include "verbs/wire/gid.h"

namespace anyrdma::transport::fabric {

using verbs::soft::PacketPtr;

namespace {
constexpr auto kRetry = std::chrono::milliseconds(2);

/// perftest's server closes its listener once it has accepted and opens another on the same port,
/// to which its client connects at once. A network's time hides that; without one the server may
/// not have had the processor yet, and with only one processor it has not. Where a request of ours
/// has just found a listener another is likely; on a busy machine its process may be long in
/// getting the processor.
constexpr auto kEarlyRequestPatience = std::chrono::milliseconds(100);
constexpr auto kPatienceWhereSomebodyListened = std::chrono::seconds(1);
/// More at once are no program's order of calls; they are answered at once.
constexpr std::size_t kEarlyRequestsMax = 64;
}  // namespace

verbs::Result<std::unique_ptr<MemberCarrier>> MemberCarrier::create(const MeshConfig& config,
                                                                    Registry& registry,
                                                                    verbs::soft::PacketPool& pool,
                                                                    PacketReceiver& receiver) {
  std::unique_ptr<MemberCarrier> carrier(new MemberCarrier(registry, pool, receiver));
  auto mesh = Mesh::create(config, pool, *carrier);
  if (!mesh) return mesh.error();
  carrier->mesh_ = std::move(*mesh);
  return carrier;
}

void MemberCarrier::attach(std::span<const station::Rail> rails, soft::SoftTransport& transport) {
  rails_ = rails;
  requests_.resize(rails.size());
  transport_ = &transport;
}

void MemberCarrier::on_gone(Slot slot) {
  gone_.push_back(slot);
  if (near_ != nullptr) near_->on_gone(slot);
}

std::vector<int> MemberCarrier::gifts_for(Slot slot) {
  const bool to_gateway = outside_ != nullptr && slot == kGatewaySlot;
  return near_ != nullptr && !to_gateway ? near_->gifts_for(slot) : std::vector<int>{};
}

void MemberCarrier::on_gifts(Slot slot, std::uint64_t incarnation,
                             std::vector<realtime::Descriptor> gifts) {
  if (near_ == nullptr || gifts.size() != NearMembers::kGifts) return;
  near_->on_gifts(slot, incarnation, std::move(gifts[0]), std::move(gifts[1]));
}

void MemberCarrier::on_packet(PacketPtr packet) {
  if (outside_ != nullptr) {
    if (const auto answer = NeighbourMessage::parse(*packet)) return outside_->on_answer(*answer);
    if (const auto news = DeviceMessage::parse(*packet)) {
      return outside_->on_change(news->change, news->rail);
    }
  }
  receiver_.on_packet(std::move(packet));
}

void MemberCarrier::set_awake(bool awake) {
  mesh_->set_awake(awake);
  if (near_ != nullptr) near_->set_awake(awake);
}

void MemberCarrier::transmit() {
  while (const auto question = outside_ != nullptr ? outside_->next_question() : std::nullopt) {
    PacketPtr packet = pool_.take();
    question->serialize(*packet);
    mesh_->send(kGatewaySlot, std::move(packet));
  }
  mesh_->transmit();
}

void MemberCarrier::send(PacketPtr packet) {
  if (outside_ != nullptr && outside_->leads_out(packet->destination))
    return mesh_->send(kGatewaySlot, std::move(packet));
  const Destination destination = destination_of(*packet, registry_);
  switch (destination.audience) {
    case Audience::kNobody:
      return;
    case Audience::kEveryone:
      return send_to_everyone(std::move(packet));
    case Audience::kUnclaimed:
      // Behind a gateway time is the world's, in which nobody waits for a processor.
      if (outside_ != nullptr) return receiver_.on_own_packet(std::move(packet));
      return keep_early_request(destination.port, std::move(packet));
    case Audience::kOne:
      return send_to(destination, std::move(packet));
  }
}

bool MemberCarrier::is_own(const verbs::soft::Packet& packet) const {
  if (outside_ != nullptr && outside_->leads_out(packet.destination)) return false;
  const Destination destination = destination_of(packet, registry_);
  return destination.audience == Audience::kOne && destination.slot == registry_.slot();
}

/// A group has no rail. The gateway says by which one its packet has come. Without a gateway all
/// processes have the same rails, so the sender's address says it.
std::size_t MemberCarrier::rail_of(const verbs::soft::Packet& packet) const {
  if (addresses_ == nullptr || addresses_->rails() == 1) return 0;
  if (!soft::Address::from_gid(packet.destination).is_multicast())
    return addresses_->rail_of(packet.destination).value_or(0);
  if (packet.mark == 0 || packet.mark > addresses_->rails()) return sender_of(packet);
  return static_cast<std::size_t>(packet.mark - 1);
}

std::size_t MemberCarrier::sender_of(const verbs::soft::Packet& packet) const {
  if (addresses_ == nullptr || addresses_->rails() == 1) return 0;
  return addresses_->rail_of(packet.source).value_or(0);
}

void MemberCarrier::seal(verbs::soft::Packet& packet) const {
  roce::seal(packet);
}

void MemberCarrier::send_to(const Destination& destination, PacketPtr packet) {
  if (destination.audience == Audience::kOne && destination.port != 0) met_port_ = destination.port;
  if (destination.slot == registry_.slot()) {
    receiver_.on_own_packet(std::move(packet));
  } else {
    if (destination.request != wire::CommId{})
      requests_[sender_of(*packet)].note(destination.slot, destination.request);
    mesh_->send(destination.slot, std::move(packet));
  }
}

void MemberCarrier::send_to_everyone(PacketPtr packet) {
  for (const Slot slot : registry_.others()) mesh_->send(slot, pool_.copy_of(*packet));
  receiver_.on_own_packet(std::move(packet));
}

void MemberCarrier::keep_early_request(std::uint16_t port, PacketPtr packet) {
  if (early_.size() >= kEarlyRequestsMax) return receiver_.on_own_packet(std::move(packet));
  const verbs::Duration patience =
      port == met_port_ ? kPatienceWhereSomebodyListened : kEarlyRequestPatience;
  early_.push_back({realtime::monotonic_now() + patience, std::move(packet)});
}

/// Those that somebody listens for by now; and to ourselves, who will say that nobody does, those
/// that have waited long enough.
bool MemberCarrier::send_early_requests() {
  if (early_.empty()) return false;
  const verbs::Instant now = realtime::monotonic_now();
  const auto sent = std::erase_if(early_, [&](EarlyRequest& request) {
    const Destination destination = destination_of(*request.packet, registry_);
    if (destination.audience == Audience::kUnclaimed && now < request.until) return false;
    send_to(destination, std::move(request.packet));
    return true;
  });
  return sent != 0;
}

bool MemberCarrier::poll() {
  const bool sent = send_early_requests();
  return mesh_->poll() || sent;
}

std::optional<verbs::Instant> MemberCarrier::next_deadline() const {
  if (mesh_->has_more()) return realtime::monotonic_now();
  if (!mesh_->wants_retry() && early_.empty()) return std::nullopt;
  return realtime::monotonic_now() + kRetry;
}

bool MemberCarrier::report(verbs::Instant now) {
  if (!has_report()) return false;
  CM_ASSERT(transport_ != nullptr);
  transport_->drain(now);  // what they said before they went
  for (const Slot slot : std::exchange(gone_, {})) {
    if (outside_ != nullptr && slot == kGatewaySlot) {
      outside_->on_gateway_gone();
    } else {
      mourn(slot, now);
    }
  }
  if (outside_ != nullptr) outside_->deliver_answers();
  return true;
}

/// Other hosts have members of that number, too.
void MemberCarrier::mourn(Slot slot, verbs::Instant now) {
  std::span<const ibv_gid> theirs;
  std::vector<ibcm::Gid> gids;
  if (outside_ != nullptr) theirs = outside_->own_gids();
  for (const ibv_gid& gid : theirs) gids.push_back(std::to_array(gid.raw));
  transport_->on_peer_gone(now, comm_id_tag(slot), kCommIdTagMask, gids);
  for (std::size_t rail = 0; rail < rails_.size(); ++rail) {
    if (rails_[rail].port == 1)
      rails_[rail].hca->on_peers_gone(now, value(slot) << kQpnShift, kQpnTagMask, theirs);
    reject_for(slot, rail);
  }
}

/// Says what the kernel of a process that is gone would have said to requests it had not answered.
void MemberCarrier::reject_for(Slot slot, std::size_t rail) {
  const auto [hca, port] = rails_[rail];
  const auto gids = hca->gids_of(port);
  const auto own =
      std::ranges::find_if(gids, [](const ibv_gid& each) { return !wire::same(each, ibv_gid{}); });
  if (own == gids.end()) return;
  const ibv_gid self = *own;
  for (const wire::CommId id : requests_[rail].take(slot)) {
    std::array<std::uint8_t, ibcm::wire::kMadSize> mad;
    ibcm::wire::Rej{.remote_comm_id = id, .reason = ibcm::kRejConsumerDefined}.serialize(mad);
    hca->send_mad({.source = self, .destination = self}, mad);
  }
}

void MemberCarrier::close() {
  if (near_ != nullptr) near_->close();
  early_.clear();
  mesh_->close();
  registry_.leave();
}

void MemberCarrier::abandon() {
  if (near_ != nullptr) near_->abandon();
  early_.clear();
  mesh_->close();
  registry_.abandon();
}

}  // namespace anyrdma::transport::fabric
