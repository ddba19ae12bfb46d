#include "transport/fabric/member_carrier.h"

#include <array>
#include <utility>

#include "transport/fabric/switchboard.h"
#include "transport/ibcm/wire/rej.h"
#include "transport/realtime/progress_thread.h"
#include "verbs/assert.h"

namespace anyrdma::transport::fabric {

using verbs::soft::PacketPtr;

namespace {
constexpr auto kMeshRetry = std::chrono::milliseconds(2);
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

void MemberCarrier::attach(verbs::soft::Hca& hca, soft::SoftTransport& transport) {
  hca_ = &hca;
  transport_ = &transport;
}

void MemberCarrier::send(PacketPtr packet) {
  const Destination destination = destination_of(*packet, registry_);
  switch (destination.audience) {
    case Audience::kNobody:
      return;
    case Audience::kEveryone:
      return send_to_everyone(std::move(packet));
    case Audience::kOne:
      break;
  }
  if (destination.slot == registry_.slot()) {
    receiver_.on_own_packet(std::move(packet));
  } else {
    if (destination.request != wire::CommId{})
      requests_.note(destination.slot, destination.request);
    mesh_->send(destination.slot, std::move(packet));
  }
}

void MemberCarrier::send_to_everyone(PacketPtr packet) {
  for (const Slot slot : registry_.others()) mesh_->send(slot, pool_.copy_of(*packet));
  receiver_.on_own_packet(std::move(packet));
}

std::optional<verbs::Instant> MemberCarrier::next_deadline() const {
  if (!mesh_->wants_retry()) return std::nullopt;
  return realtime::monotonic_now() + kMeshRetry;
}

bool MemberCarrier::report(verbs::Instant now) {
  if (gone_.empty()) return false;
  CM_ASSERT(transport_ != nullptr);
  transport_->drain(now);  // what they said before they went
  for (const Slot slot : std::exchange(gone_, {})) {
    transport_->on_peer_gone(now, comm_id_tag(slot), kCommIdTagMask);
    reject_for(slot);
  }
  return true;
}

/// Says what the kernel of a process that is gone would have said to requests it had not answered.
void MemberCarrier::reject_for(Slot slot) {
  if (hca_->gids().empty()) return;
  const ibv_gid self = hca_->gids().front();
  for (const wire::CommId id : requests_.take(slot)) {
    std::array<std::uint8_t, ibcm::wire::kMadSize> mad;
    ibcm::wire::Rej{.remote_comm_id = id, .reason = ibcm::kRejConsumerDefined}.serialize(mad);
    hca_->send_mad({.source = self, .destination = self}, mad);
  }
}

void MemberCarrier::close() {
  mesh_->close();
  registry_.leave();
}

void MemberCarrier::abandon() {
  mesh_->close();
  registry_.abandon();
}

}  // namespace anyrdma::transport::fabric
