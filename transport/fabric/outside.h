// The network of a host for its processes, if their fabric has a gateway (FabricConfig). The host
// has one or more rails: interfaces, each with an RDMA device and with addresses of its own. All
// other addresses belong to other hosts, with which the gateway exchanges packets. The gateway also
// answers whether a neighbour exists.
#pragma once

#include <infiniband/verbs.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "transport/fabric/neighbour_message.h"
#include "transport/fabric/rail_addresses.h"
#include "transport/fabric/rendezvous/config.h"
#include "transport/fabric/rendezvous/slot.h"
#include "transport/soft/device_change.h"
#include "transport/soft/network.h"
#include "transport/soft/transport.h"
#include "verbs/soft/hca.h"
#include "verbs/wire/ids.h"

namespace anyrdma::transport::fabric {

/// The number of GIDs of a device.
inline constexpr std::size_t kGids = 16;

/// The network of a host behind a gateway. Call all functions inside the critical section
/// (verbs::Runtime::enter). Questions about neighbours wait here until the connection to the
/// gateway accepts them. Answers wait here until the transport can be called.
class Outside final : public soft::Network, public RailAddresses {
 public:
  /// Precondition: there is a rail, and each has an address.
  Outside(const std::vector<Rail>& rails, Slot self);
  /// Sets the transport that receives the answers about neighbours. Call it before the first
  /// resolve_neighbour.
  void attach(soft::SoftTransport& transport) { transport_ = &transport; }

  /// The number of rails: of the ports of all devices. The functions below take the number of a
  /// rail, from 0.
  [[nodiscard]] std::size_t rails() const override { return rails_.size(); }
  /// Returns the index of the interface, as Network and the scopes of link-local addresses have it.
  /// The interfaces of several rails have the indices of the host's network namespace, which
  /// follow that of loopback.
  [[nodiscard]] int interface(std::size_t rail = 0) const {
    return rails_.size() > 1 ? static_cast<int>(rail) + 2 : 1;
  }
  /// Returns the number of the rail's port on its device.
  [[nodiscard]] std::uint8_t port(std::size_t rail) const { return rails_[rail].port; }
  /// Returns the GID table of the port: without an empty entry at the end. Addresses of loopback
  /// belong to the first rail, and are the last entries of its table.
  [[nodiscard]] std::vector<ibv_gid> gids(std::size_t size, std::size_t rail = 0) const;
  /// Returns the GIDs of all addresses of this host, even if a device's GID table holds fewer.
  [[nodiscard]] std::span<const ibv_gid> own_gids() const { return own_gids_; }
  /// Returns the node GUID of the device. All devices of all hosts have different GUIDs.
  [[nodiscard]] wire::Guid guid(std::size_t rail = 0) const { return rails_[rail].guid; }
  /// Returns the configuration of the device: that of a simulated device whose links may lose
  /// packets, with a processing time of zero. `rail`: that of port 1.
  [[nodiscard]] verbs::soft::HcaConfig device(std::uint8_t link_layer, std::size_t rail = 0) const;
  [[nodiscard]] std::optional<std::size_t> rail_of(const ibv_gid& gid) const override;
  /// Adds an address to the interface of a rail, or removes one. Returns false if nothing changes.
  bool add_address(std::size_t rail, const soft::Prefix& prefix);
  bool drop_address(std::size_t rail, const soft::Address& address);
  /// Whether packets to that address go only to the gateway, because it belongs to another host.
  [[nodiscard]] bool leads_out(const ibv_gid& destination) const;

  // --- soft::Network ----------------------------------------------------------------------------

  /// Looks up a route. A route to an own address is local. Another host's address is reached from
  /// an own address of the same network; ENETUNREACH: there is none. If several rails are in that
  /// network, the rail of `source` is used, else the first one, as on Linux. A multicast group is
  /// reached from the requested source, else from the first own address.
  [[nodiscard]] verbs::Result<soft::Route> route(const soft::Address* source,
                                                 const soft::Address& destination) override;
  [[nodiscard]] verbs::Result<int> interface_of(const soft::Address& local) override;
  void resolve_neighbour(soft::NeighbourToken token, const soft::Route& route,
                         std::chrono::milliseconds timeout) override;
  void cancel_neighbour(soft::NeighbourToken token) override;
  [[nodiscard]] soft::LinkNumber link_of(int interface) override;
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
  /// An event of the device of a rail.
  struct Change {
    soft::DeviceChange change{};
    std::size_t rail = 0;
  };
  /// Sets a function that is called when an event of a device has arrived. The event waits
  /// until the function fetches it.
  void set_on_changes(std::function<void()> on_changes) { on_changes_ = std::move(on_changes); }
  /// An event of a rail that does not exist has no effect.
  void on_change(const soft::DeviceChange& change, std::size_t rail);
  [[nodiscard]] std::vector<Change> take_changes() { return std::exchange(changes_, {}); }
  /// Sets the link address that link_of() returns for the interface of a rail, or for one of its
  /// neighbours.
  void set_link(std::size_t rail, soft::LinkNumber link) { rails_[rail].link = link; }
  void set_link(std::size_t rail, const soft::Address& neighbour, soft::LinkNumber link) {
    rails_[rail].neighbour_links.insert_or_assign(neighbour.ip, link);
  }

 private:
  struct Answer {
    soft::NeighbourToken token{};
    int error = 0;
  };

  struct Interface {
    std::string device;
    std::uint8_t port = 1;
    std::vector<soft::Prefix> prefixes;
    std::vector<soft::Address> addresses;  ///< with those that no prefix has
    soft::LinkNumber link{};
    /// Link addresses that the gateway has reported.
    std::map<decltype(soft::Address::ip), soft::LinkNumber> neighbour_links{};
    wire::Guid guid{};
  };
  /// An own address from which to send, and its rail.
  struct Source {
    soft::Address address;
    std::size_t rail = 0;
  };

  [[nodiscard]] std::size_t rail_at(int interface) const {
    return static_cast<std::size_t>(interface - this->interface(0));
  }
  [[nodiscard]] std::optional<std::size_t> owner(const soft::Address& address) const;
  /// Returns the source for packets to another host or to a multicast group. `rail`: the only rail
  /// to use; nothing: any.
  [[nodiscard]] verbs::Result<Source> source_towards(const soft::Address& destination,
                                                     std::optional<std::size_t> rail) const;

  std::vector<Interface> rails_;
  std::vector<ibv_gid> own_gids_;
  Slot self_;
  soft::SoftTransport* transport_ = nullptr;
  bool gateway_gone_ = false;
  std::uint64_t asked_ = 0;
  std::map<std::uint64_t, soft::NeighbourToken> open_;  ///< by their numbers
  std::vector<NeighbourMessage> questions_;             ///< not taken yet
  std::vector<Answer> answers_;
  std::vector<Change> changes_;
  std::function<void()> on_changes_;
};

}  // namespace anyrdma::transport::fabric
