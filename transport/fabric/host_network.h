// Answers the transport's questions about routes and neighbours for a fabric without a gateway. The
// fabric's first device has all addresses of the machine. Further devices have one address of
// loopback each. No other host can be reached.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <optional>
#include <vector>

#include "transport/fabric/rail_addresses.h"
#include "transport/soft/network.h"
#include "transport/soft/transport.h"

namespace anyrdma::transport::fabric {

/// The machine's IP addresses at one point in time.
struct HostAddresses {
  /// Addresses of interfaces that are up, loopback included; all ports are 0.
  std::vector<soft::Address> all;
  /// The index of the interface that the device belongs to: the first interface except loopback,
  /// else "lo".
  int interface = 1;

  /// Reads the addresses from the system (getifaddrs). A machine without addresses still has
  /// 127.0.0.1.
  [[nodiscard]] static HostAddresses read();
  /// Returns the addresses of a device after the first. `number` is that of the device, from 1 to
  /// 254. They are 127.0.NUMBER.1, to which every machine has a route, and a link-local address.
  [[nodiscard]] static HostAddresses of_device(std::size_t number);
  /// Returns the device's GID table, with at most `size` entries: a link-local address, then
  /// 127.0.0.1, then other addresses, IPv4 before IPv6. The first two entries are equal in every
  /// process of the machine, even if the machine's addresses change.
  [[nodiscard]] std::vector<ibv_gid> gids(std::size_t size) const;
};

/// Answers with the addresses that the machine had when this process joined the fabric.
class HostNetwork final : public soft::Network, public RailAddresses {
 public:
  /// `devices`: their number, from 1 to kRailsMax.
  explicit HostNetwork(HostAddresses addresses, std::size_t devices = 1);
  /// Sets the transport that receives the answers about neighbours. Call it before the first
  /// resolve_neighbour.
  void attach(soft::SoftTransport& transport) { transport_ = &transport; }

  [[nodiscard]] std::size_t rails() const override { return devices_.size(); }
  [[nodiscard]] std::optional<std::size_t> rail_of(const ibv_gid& gid) const override;
  [[nodiscard]] int interface(std::size_t device = 0) const { return devices_[device].interface; }
  [[nodiscard]] std::vector<ibv_gid> gids(std::size_t size, std::size_t device = 0) const {
    return devices_[device].gids(size);
  }

  /// Looks up a route. A route to an own address is local. For another address, the system's error
  /// if the machine has no route to it, else a route whose neighbour never answers.
  [[nodiscard]] verbs::Result<soft::Route> route(const soft::Address* source,
                                                 const soft::Address& destination) override;
  [[nodiscard]] verbs::Result<int> interface_of(const soft::Address& local) override;
  /// Answers at once: neighbours on other machines cannot be reached through this transport.
  void resolve_neighbour(soft::NeighbourToken token, const soft::Route& route,
                         std::chrono::milliseconds timeout) override;
  void cancel_neighbour(soft::NeighbourToken) override {}

 private:
  /// Returns the number of the device that has the address; nothing: none has.
  [[nodiscard]] std::optional<std::size_t> owner(const soft::Address& address) const;

  std::vector<HostAddresses> devices_;
  soft::SoftTransport* transport_ = nullptr;
};

}  // namespace anyrdma::transport::fabric
