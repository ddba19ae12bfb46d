// The network of a host for its processes, if their fabric has a gateway (FabricConfig). The host's
// addresses belong to the fabric's only device. All other addresses belong to other hosts, with
// which the gateway exchanges packets. The gateway also answers whether a neighbour exists.
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

/// The number of GIDs of the device.
inline constexpr std::size_t kGids = 16;

/// The network of a host behind a gateway. Call all functions inside the critical section
/// (verbs::Runtime::enter). Questions about neighbours wait here until the connection to the
/// gateway accepts them. Answers wait here until the transport can be called.
class Outside final : public soft::Network {
 public:
  Outside(const std::vector<soft::Prefix>& addresses, Slot self);
  /// Sets the transport that receives the answers about neighbours. Call it before the first
  /// resolve_neighbour.
  void attach(soft::SoftTransport& transport) { transport_ = &transport; }

  [[nodiscard]] int interface() const { return addresses_.interface; }
  [[nodiscard]] std::vector<ibv_gid> gids(std::size_t size) const;
  /// Returns the GIDs of all addresses of this host, even if the device's GID table holds fewer.
  [[nodiscard]] std::span<const ibv_gid> own_gids() const { return own_gids_; }
  /// Returns the node GUID of the host's device. Hosts have different GUIDs.
  [[nodiscard]] wire::Guid guid() const;
  /// Returns the configuration of the device: that of a simulated device whose links may lose
  /// packets, with a processing time of zero.
  [[nodiscard]] verbs::soft::HcaConfig device(std::uint8_t link_layer) const {
    return {.node_guid = guid(), .link_layer = link_layer};
  }
  /// Whether packets to that address go only to the gateway, because it belongs to another host.
  [[nodiscard]] bool leads_out(const ibv_gid& destination) const;

  // --- soft::Network ----------------------------------------------------------------------------

  /// Looks up a route. A route to an own address is local. Another host's address is reached from
  /// an own address of the same network; ENETUNREACH: there is none. A multicast group is reached
  /// from the requested source, else from the first own address.
  [[nodiscard]] verbs::Result<soft::Route> route(const soft::Address* source,
                                                 const soft::Address& destination) override;
  [[nodiscard]] verbs::Result<int> interface_of(const soft::Address& local) override;
  void resolve_neighbour(soft::NeighbourToken token, const soft::Route& route,
                         std::chrono::milliseconds timeout) override;
  void cancel_neighbour(soft::NeighbourToken token) override;
  [[nodiscard]] soft::LinkNumber link_of(int) override { return link_; }
  [[nodiscard]] soft::LinkNumber link_of(int interface, const soft::Address& neighbour) override;

  // --- the gateway -------------------------------------------------------------------------------

  /// Returns the next question to send to the gateway. Nothing: no question for now.
  [[nodiscard]] std::optional<NeighbourMessage> next_question();
  /// Processes an answer of the gateway. An answer to an unknown question has no effect.
  void on_answer(const NeighbourMessage& answer);
  /// Call when the gateway has ended. Each open question ends with ETIMEDOUT.
  void on_gateway_gone();
  [[nodiscard]] bool has_answers() const { return !answers_.empty(); }
  /// Passes the answers that have arrived to the transport.
  void deliver_answers();
  /// Sets a function that is called when an event of the host's device has arrived. The event waits
  /// until the function fetches it.
  void set_on_changes(std::function<void()> on_changes) { on_changes_ = std::move(on_changes); }
  void on_change(const soft::DeviceChange& change);
  [[nodiscard]] std::vector<soft::DeviceChange> take_changes() {
    return std::exchange(changes_, {});
  }
  /// Sets the link address that link_of() returns for this host's interface.
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
  /// Returns the own address from which to send to another host or to a multicast group.
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
  /// Link addresses that the gateway has reported.
  std::map<decltype(soft::Address::ip), soft::LinkNumber> neighbour_links_;
};

}  // namespace anyrdma::transport::fabric
