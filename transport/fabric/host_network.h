// The machine's IP stack for the fabric's only device: it has all local addresses, and other hosts
// cannot be reached.
#pragma once

#include <infiniband/verbs.h>

#include <vector>

#include "transport/soft/network.h"
#include "transport/soft/prefix.h"
#include "transport/soft/transport.h"

namespace anyrdma::transport::fabric {

/// The machine's addresses at one point of time.
struct HostAddresses {
  std::vector<soft::Address> all;  ///< of interfaces that are up, loopback included; ports 0
  /// The interface that the device belongs to: the first one except loopback, else "lo".
  int interface = 1;

  /// Reads the addresses from the system (getifaddrs). A machine without addresses still has
  /// 127.0.0.1.
  [[nodiscard]] static HostAddresses read();
  /// Makes the addresses of a host from a list, and adds loopback addresses. The interface has
  /// number 1.
  [[nodiscard]] static HostAddresses of(const std::vector<soft::Prefix>& prefixes);
  /// Returns the device's GID table of at most `size` entries: a link-local address, then
  /// 127.0.0.1, then other addresses, IPv4 before IPv6. The first two are the same in every process
  /// of the machine, even if its addresses change.
  [[nodiscard]] std::vector<ibv_gid> gids(std::size_t size) const;
};

/// Uses the addresses that the machine had when the process joined.
class HostNetwork final : public soft::Network {
 public:
  explicit HostNetwork(HostAddresses addresses) : addresses_(std::move(addresses)) {}
  /// Sets the receiver of neighbour answers. Call it before the first resolve_neighbour.
  void attach(soft::SoftTransport& transport) { transport_ = &transport; }

  [[nodiscard]] int interface() const { return addresses_.interface; }
  [[nodiscard]] std::vector<ibv_gid> gids(std::size_t size) const { return addresses_.gids(size); }

  /// Looks up a route. An own address is local. For other addresses: the system's error if it has
  /// no route; otherwise a route whose neighbour never answers.
  [[nodiscard]] verbs::Result<soft::Route> route(const soft::Address* source,
                                                 const soft::Address& destination) override;
  [[nodiscard]] verbs::Result<int> interface_of(const soft::Address& local) override;
  /// Answers at once, since the transport reaches no process on another machine.
  void resolve_neighbour(soft::NeighbourToken token, const soft::Route& route,
                         std::chrono::milliseconds timeout) override;
  void cancel_neighbour(soft::NeighbourToken) override {}

 private:
  [[nodiscard]] bool own(const soft::Address& address) const;

  HostAddresses addresses_;
  soft::SoftTransport* transport_ = nullptr;
};

}  // namespace anyrdma::transport::fabric
