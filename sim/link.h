// One direction between two hosts: what happens to packets on the way.
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

/// A packet under way that does not arrive in its turn. Recycled.
class Flight final : public Task {
 public:
  explicit Flight(World& world) : world_(world) {}

 private:
  friend class World;
  friend class Link;
  void run() override;

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
  /// All that happens to packets is that they arrive, later.
  [[nodiscard]] bool plain() const { return plain_; }
  [[nodiscard]] const LinkOptions& options() const { return options_; }
  /// Takes a packet for the receiver's interface. False: it is lost. Packets sent after one that is
  /// `late` overtake it.
  [[nodiscard]] bool carry(std::size_t interface, verbs::soft::PacketPtr& packet,
                           Duration late = Duration::zero());
  /// The next packet overtakes this one, unless none comes within LinkOptions::reorder_delay.
  /// False: one is held back already, or none passes.
  [[nodiscard]] bool hold_back(std::size_t interface, verbs::soft::PacketPtr& packet);

 private:
  class Straggler;
  struct Waiting {
    std::size_t interface;
    verbs::soft::PacketPtr packet;
  };
  /// A packet under way. The link itself is the task of the first of them.
  struct InFlight {
    Instant arrival{};
    std::uint64_t turn = 0;
    std::size_t interface = 0;
    verbs::soft::PacketPtr packet{};
  };
  void run() override;
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
