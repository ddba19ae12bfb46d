// A host's network as its processes see it where their fabric has a gateway (FabricConfig): the
// host's own addresses are those of the fabric's one device, and others are other hosts', with whom
// the gateway exchanges packets. Whether a neighbour is there, the gateway knows.
#pragma once

#include <infiniband/verbs.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "transport/fabric/host_network.h"
#include "transport/fabric/neighbour_message.h"
#include "transport/fabric/rendezvous/slot.h"
#include "transport/soft/device_change.h"
#include "transport/soft/network.h"
#include "transport/soft/prefix.h"
#include "transport/soft/transport.h"
#include "verbs/soft/hca.h"
#include "verbs/wire/ids.h"

namespace anyrdma::transport::fabric {

/// Of the device's table.
inline constexpr std::size_t kGids = 16;

/// Used inside the critical section. Questions wait here until the connection to the gateway takes
/// them, for which the driver is called. Answers wait until the transport can be called.
class Outside final : public soft::Network {
 public:
  Outside(const std::vector<soft::Prefix>& addresses, Slot self);
  /// Sets the receiver of neighbour reports; call it before the first resolve_neighbour.
  void attach(soft::SoftTransport& transport) { transport_ = &transport; }

  [[nodiscard]] int interface() const { return addresses_.interface; }
  [[nodiscard]] std::vector<ibv_gid> gids(std::size_t size) const;
  /// All, however many the device's table holds.
  [[nodiscard]] std::span<const ibv_gid> own_gids() const { return own_gids_; }
  /// Of the host's device: another host has another one.
  [[nodiscard]] wire::Guid guid() const;
  /// The device, as a world has it with links that lose packets, and in which it takes no time to
  /// have a processor.
  [[nodiscard]] verbs::soft::HcaConfig device(std::uint8_t link_layer) const {
    return {.node_guid = guid(), .link_layer = link_layer};
  }
  /// Whether a packet to that address is the gateway's business alone.
  [[nodiscard]] bool leads_out(const ibv_gid& destination) const;

  // --- soft::Network ----------------------------------------------------------------------------
  /// To an own address: local. To others: by the network that one of ours is in, else ENETUNREACH.
  /// To groups: from the address asked for, else from the first one.
  [[nodiscard]] verbs::Result<soft::Route> route(const soft::Address* source,
                                                 const soft::Address& destination) override;
  [[nodiscard]] verbs::Result<int> interface_of(const soft::Address& local) override;
  void resolve_neighbour(soft::NeighbourToken token, const soft::Route& route,
                         std::chrono::milliseconds timeout) override;
  void cancel_neighbour(soft::NeighbourToken token) override;
  [[nodiscard]] soft::LinkNumber link_of(int) override { return link_; }
  [[nodiscard]] soft::LinkNumber link_of(int interface, const soft::Address& neighbour) override;

  // --- the gateway ------------------------------------------------------------------------------
  /// What it is to be asked next; nothing: no more for now.
  [[nodiscard]] std::optional<NeighbourMessage> next_question();
  /// An answer without a question has no effect.
  void on_answer(const NeighbourMessage& answer);
  /// The gateway no longer answers: each question ends with ETIMEDOUT.
  void on_gateway_gone();
  [[nodiscard]] bool has_answers() const { return !answers_.empty(); }
  /// Tells the transport.
  void deliver_answers();
  /// Device events of the host wait here until the function `on_changes` takes them.
  void set_on_changes(std::function<void()> on_changes) { on_changes_ = std::move(on_changes); }
  void on_change(const soft::DeviceChange& change);
  [[nodiscard]] std::vector<soft::DeviceChange> take_changes() {
    return std::exchange(changes_, {});
  }
  /// Sets the result of link_of().
  void set_link(soft::LinkNumber link) { link_ = link; }
  void set_link(const soft::Address& neighbour, soft::LinkNumber link) {
    neighbour_links_.insert_or_assign(neighbour.ip, link);
  }

 private:
  struct Answer {
    soft::NeighbourToken token{};
    int error = 0;
  };

  [[nodiscard]] bool own(const soft::Address& address) const;
  /// Ours, towards another host or a group.
  [[nodiscard]] verbs::Result<soft::Address> source_towards(const soft::Address& destination) const;

  std::vector<soft::Prefix> prefixes_;
  HostAddresses addresses_;
  std::vector<ibv_gid> own_gids_;
  Slot self_;
  soft::SoftTransport* transport_ = nullptr;
  bool gateway_gone_ = false;
  std::uint64_t asked_ = 0;
  std::map<std::uint64_t, soft::NeighbourToken> open_;  ///< by their numbers
  std::vector<NeighbourMessage> questions_;             ///< not taken yet
  std::vector<Answer> answers_;
  std::vector<soft::DeviceChange> changes_;
  std::function<void()> on_changes_;
  soft::LinkNumber link_{};
  std::map<decltype(soft::Address::ip), soft::LinkNumber> neighbour_links_;  ///< told of
};

}  // namespace anyrdma::transport::fabric
