// A packet carrier that reports packets to an observer, for recordings.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "transport/station/carrier.h"
#include "transport/station/packet_watch.h"
#include "verbs/soft/packet.h"

namespace anyrdma::transport::station {

/// A layer above another carrier. It also observes received packets before their receiver gets
/// them. Faults (mishap_carrier.h) act in a layer below this one, so they see the same packets.
class WatchedCarrier final : public Carrier, public Carrier::Receiver {
 public:
  using Deliver = std::function<void(verbs::soft::PacketPtr)>;
  /// Creates a carrier that wraps `below`, which no other object may call. Received packets are
  /// passed to `deliver`. The observer `watch` may be null. It must outlive this object, or be set
  /// to null before.
  WatchedCarrier(std::unique_ptr<Carrier> below, Deliver deliver, PacketWatch* watch)
      : below_(std::move(below)), deliver_(std::move(deliver)), watch_(watch) {}

  void set_watch(PacketWatch* watch) { watch_ = watch; }

  // --- Receiver: for what `below` delivers ------------------------------------------------------
  void on_packet(verbs::soft::PacketPtr packet) override;
  /// Packets to this process itself were reported when they were sent. The driver keeps them.
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
  bool poll() override { return below_->poll(); }
  bool glance() override { return below_->glance(); }
  void set_awake(bool awake) override { below_->set_awake(awake); }
  [[nodiscard]] std::optional<verbs::Instant> next_deadline() const override {
    return below_->next_deadline();
  }
  [[nodiscard]] bool has_report() const override { return below_->has_report(); }
  bool report(verbs::Instant now) override { return below_->report(now); }
  void flush(std::chrono::milliseconds limit) override { below_->flush(limit); }
  void close() override { below_->close(); }
  void abandon() override { below_->abandon(); }

 private:
  std::unique_ptr<Carrier> below_;
  const Deliver deliver_;
  PacketWatch* watch_;
};

}  // namespace anyrdma::transport::station
