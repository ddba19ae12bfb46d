// A packet carrier for fault plans: a gate (verbs::PacketGate) decides what happens to each packet.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "transport/station/carrier.h"
#include "verbs/packet_gate.h"
#include "verbs/soft/packet.h"

namespace anyrdma::transport::station {

/// A packet carrier that wraps another carrier and applies faults to its packets. Received packets
/// are filtered before the HCA gets them. A packet from this process to itself is not affected. A
/// packet to a multicast group counts as one packet.
class MishapCarrier final : public Carrier, public Carrier::Receiver {
 public:
  using Deliver = std::function<void(verbs::soft::PacketPtr)>;
  /// Creates a carrier that wraps `below`, which no other object may call. Received packets are
  /// passed to `deliver`. If `gate` is null, no packet is changed. `pool` and `gate` must outlive
  /// the object.
  MishapCarrier(std::unique_ptr<Carrier> below, Deliver deliver, verbs::soft::PacketPool& pool,
                verbs::PacketGate* gate)
      : below_(std::move(below)), deliver_(std::move(deliver)), pool_(pool), gate_(gate) {}

  /// Sets the gate that decides about packets. Packets that are delayed already stay delayed.
  void set_gate(verbs::PacketGate* gate) { gate_ = gate; }

  // --- Receiver: for what `below` delivers ------------------------------------------------------
  void on_packet(verbs::soft::PacketPtr packet) override;
  /// Packets to this process itself are not affected by faults: the driver keeps them.
  void on_own_packet(verbs::soft::PacketPtr /*packet*/) override {}

  // --- Carrier ----------------------------------------------------------------------------------
  [[nodiscard]] int fd() const override { return below_->fd(); }
  void send(verbs::soft::PacketPtr packet) override;
  [[nodiscard]] bool is_own(const verbs::soft::Packet& packet) const override {
    return below_->is_own(packet);
  }
  [[nodiscard]] std::size_t rail_of(const verbs::soft::Packet& packet) const override {
    return below_->rail_of(packet);
  }
  void seal(verbs::soft::Packet& packet) const override { below_->seal(packet); }
  [[nodiscard]] bool is_full(wire::Qpn destination) const override {
    return below_->is_full(destination);
  }
  void transmit() override { below_->transmit(); }
  bool poll() override;
  bool glance() override;
  void set_awake(bool awake) override { below_->set_awake(awake); }
  [[nodiscard]] std::optional<verbs::Instant> next_deadline() const override;
  [[nodiscard]] bool has_report() const override { return below_->has_report(); }
  bool report(verbs::Instant now) override { return below_->report(now); }
  /// Sends delayed packets early, because the process is about to end.
  void flush(std::chrono::milliseconds limit) override;
  void close() override;
  void abandon() override;

 private:
  struct Late {
    verbs::Instant due{};
    verbs::PacketWay way{};
    verbs::soft::PacketPtr packet;
    bool overtaken = false;  ///< the next packet of this direction ends the delay
  };

  void send_on_its_way(verbs::PacketWay way, verbs::soft::PacketPtr packet);
  void pass(verbs::PacketWay way, verbs::soft::PacketPtr packet);
  void hold(verbs::PacketWay way, verbs::soft::PacketPtr packet, verbs::Duration by,
            bool overtaken);
  void follow(verbs::PacketWay way);
  [[nodiscard]] bool has_straggler(verbs::PacketWay way) const;
  void make_whole(verbs::PacketWay way, verbs::soft::Packet& packet) const;
  void corrupt(verbs::soft::Packet& packet, std::uint64_t chance) const;
  bool release(verbs::Instant until);

  std::unique_ptr<Carrier> below_;
  const Deliver deliver_;
  verbs::soft::PacketPool& pool_;
  verbs::PacketGate* gate_;
  std::vector<Late> late_;  ///< delayed packets, in the order in which they came
};

}  // namespace anyrdma::transport::station
