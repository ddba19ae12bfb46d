// The network in one direction between two hosts: delay, loss, duplication and reordering of
// packets.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sim/options.h"
#include "sim/schedule/random_stream.h"
#include "sim/schedule/scheduler.h"
#include "verbs/soft/packet.h"
#include "verbs/soft/ring.h"

namespace anyrdma::sim {

class Host;
class World;

/// A packet in the network that arrives out of order. Objects are reused.
class Flight final : public Task {
 public:
  explicit Flight(World& world) : world_(world) {}

 private:
  friend class World;
  friend class Link;
  void run() override;
  [[nodiscard]] std::string what() override;

  World& world_;
  Host* from_ = nullptr;
  Host* to_ = nullptr;
  std::size_t interface_ = 0;
  verbs::soft::PacketPtr packet_;
};

/// Made when the first packet goes this way.
class Link final : private Task {
 public:
  Link(World& world, Host& from, Host& to, const LinkOptions& options);

  ~Link() override;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  void set(const LinkOptions& options);
  /// Whether the link only delays packets: it neither loses, duplicates nor reorders them.
  [[nodiscard]] bool plain() const { return plain_; }
  [[nodiscard]] const LinkOptions& options() const { return options_; }
  /// Transmits a packet to an interface of the receiver. Returns false if the packet is lost.
  /// Packets sent after a packet with `late` above zero overtake it.
  [[nodiscard]] bool carry(std::size_t interface, verbs::soft::PacketPtr& packet,
                           Duration late = Duration::zero());
  /// Holds a packet back until the next packet on this link has overtaken it, for
  /// LinkOptions::reorder_delay at most. False: another packet is held back already, or the link
  /// passes no packets.
  [[nodiscard]] bool hold_back(std::size_t interface, verbs::soft::PacketPtr& packet);

 private:
  class Straggler;
  struct Waiting {
    std::size_t interface;
    verbs::soft::PacketPtr packet;
  };
  /// A packet in the network that arrives in order. The Link object itself is the task that
  /// delivers the first of these packets.
  struct InFlight {
    Instant arrival{};
    std::uint64_t turn = 0;
    std::size_t interface = 0;
    verbs::soft::PacketPtr packet{};
  };
  void run() override;
  [[nodiscard]] std::string what() override;
  void follow(Instant arrival);
  [[nodiscard]] Instant arrival_of(const verbs::soft::Packet& packet);
  void launch(Instant arrival, std::size_t interface, verbs::soft::PacketPtr&& packet);
  [[nodiscard]] bool another_lands_now();

  World& world_;
  Host& from_;
  Host& to_;
  LinkOptions options_;
  bool plain_;
  RandomStream random_;
  verbs::soft::Ring<InFlight> under_way_;  ///< in the order of arrival
  Instant wire_free_{};                    ///< when the wire takes the next packet
  Instant last_arrival_{};                 ///< none overtakes it unless reordered
  std::vector<Waiting> waiting_;           ///< while it is clogged
  std::unique_ptr<Straggler> straggler_;   ///< null: there never was one
};

}  // namespace anyrdma::sim
