// Carries packets between the processes of a fabric. Selects the destination process of each
// packet, and reports processes that have ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "transport/fabric/mesh.h"
#include "transport/fabric/near/near_members.h"
#include "transport/fabric/outside.h"
#include "transport/fabric/rail_addresses.h"
#include "transport/fabric/rendezvous/registry.h"
#include "transport/fabric/request_log.h"
#include "transport/fabric/switchboard.h"
#include "transport/soft/transport.h"
#include "transport/station/carrier.h"
#include "verbs/soft/hca.h"

namespace anyrdma::transport::fabric {

class MemberCarrier final : public station::Carrier, private Mesh::Receiver {
 public:
  using PacketReceiver = station::Carrier::Receiver;

  /// Opens the links to the other processes. Errors: as Mesh::create. All arguments passed by
  /// reference must outlive the carrier.
  [[nodiscard]] static verbs::Result<std::unique_ptr<MemberCarrier>> create(
      const MeshConfig& config, Registry& registry, verbs::soft::PacketPool& pool,
      PacketReceiver& receiver);
  /// Sets the objects that get reports about peers that have ended. Call it before the first
  /// report().
  void attach(std::span<const station::Rail> rails, soft::SoftTransport& transport);
  /// Sets the object for direct access to other processes' memory; may be null. Call it before the
  /// first poll(). The object must outlive the carrier.
  void attach(NearMembers* near) { near_ = near; }
  /// Sets the object that knows the addresses of the rails. Call it before the first poll(). The
  /// object must outlive the carrier.
  void attach(const RailAddresses& addresses) { addresses_ = &addresses; }
  /// Sets the network of other hosts, which a gateway connects to this fabric; null: there is no
  /// gateway. Call it before the first poll(). The object must outlive the carrier.
  void attach(Outside* outside) { outside_ = outside; }

  [[nodiscard]] int fd() const override { return mesh_->fd(); }
  void send(verbs::soft::PacketPtr packet) override;
  [[nodiscard]] bool is_own(const verbs::soft::Packet& packet) const override;
  [[nodiscard]] std::size_t rail_of(const verbs::soft::Packet& packet) const override;
  void seal(verbs::soft::Packet& packet) const override;
  [[nodiscard]] bool is_full(wire::Qpn destination) const override {
    if (outside_ != nullptr && mesh_->is_full(kGatewaySlot)) return true;
    return destination != wire::kMulticastQpn && mesh_->is_full(slot_of(destination));
  }
  void transmit() override;
  bool poll() override;
  bool glance() override { return early_.empty() ? mesh_->glance() : poll(); }
  void set_awake(bool awake) override;
  [[nodiscard]] std::optional<verbs::Instant> next_deadline() const override;
  [[nodiscard]] bool has_report() const override {
    return !gone_.empty() || (outside_ != nullptr && outside_->has_answers());
  }
  bool report(verbs::Instant now) override;
  void flush(std::chrono::milliseconds limit) override { mesh_->flush(limit); }
  void close() override;
  void abandon() override;

 private:
  MemberCarrier(Registry& registry, verbs::soft::PacketPool& pool, PacketReceiver& receiver)
      : registry_(registry), pool_(pool), receiver_(receiver) {}

  void on_packet(verbs::soft::PacketPtr packet) override;
  void on_gone(Slot slot) override;
  std::vector<int> gifts_for(Slot slot) override;
  void on_gifts(Slot slot, std::uint64_t incarnation,
                std::vector<realtime::Descriptor> gifts) override;

  /// A connection request that waits because no process listens on its port yet.
  struct EarlyRequest {
    verbs::Instant until;
    verbs::soft::PacketPtr packet;
  };

  /// Returns the number of the own rail that has sent a packet; 0: none has.
  [[nodiscard]] std::size_t sender_of(const verbs::soft::Packet& packet) const;
  void send_to(const Destination& destination, verbs::soft::PacketPtr packet);
  void send_to_everyone(verbs::soft::PacketPtr packet);
  void keep_early_request(std::uint16_t port, verbs::soft::PacketPtr packet);
  bool send_early_requests();
  void mourn(Slot slot, verbs::Instant now);
  void reject_for(Slot slot, std::size_t rail);

  Registry& registry_;
  verbs::soft::PacketPool& pool_;
  PacketReceiver& receiver_;
  std::span<const station::Rail> rails_;
  soft::SoftTransport* transport_ = nullptr;
  NearMembers* near_ = nullptr;
  Outside* outside_ = nullptr;
  const RailAddresses* addresses_ = nullptr;
  std::unique_ptr<Mesh> mesh_;
  std::vector<Slot> gone_;
  std::vector<RequestLog> requests_{1};  ///< of each rail
  std::vector<EarlyRequest> early_;      // in the order of sending

  // Port of this process's last connection request that found a listener, in any port space.
  // perftest connects by RC first, for every kind of test.
  std::uint16_t met_port_ = 0;
};

}  // namespace anyrdma::transport::fabric
