// The machine's IP stack as the fabric's one device sees it: it has all local addresses, and no
// neighbours.
#pragma once

#include <infiniband/verbs.h>

#include <vector>

#include "transport/soft/network.h"
#include "transport/soft/prefix.h"
#include "transport/soft/transport.h"

namespace anyrdma::transport::fabric {

/// The machine's addresses at one moment.
struct HostAddresses {
  std::vector<soft::Address> all;  ///< of interfaces that are up, loopback included; ports 0
  int interface = 1;  ///< the one that stands for all: the first that is not loopback, else "lo"

  /// Asks the system (getifaddrs). An empty machine still has 127.0.0.1.
  [[nodiscard]] static HostAddresses read();
  /// These, and loopback's, on an interface of the number 1.
  [[nodiscard]] static HostAddresses of(const std::vector<soft::Prefix>& prefixes);
  /// The device's GID table: a link-local address first, then 127.0.0.1, then the others, IPv4
  /// before IPv6; at most `size`. The first two are the same in every process of the machine, even
  /// if its addresses change in between.
  [[nodiscard]] std::vector<ibv_gid> gids(std::size_t size) const;
};

/// Addresses are as they were when the process joined.
class HostNetwork final : public soft::Network {
 public:
  explicit HostNetwork(HostAddresses addresses) : addresses_(std::move(addresses)) {}
  /// Sets the receiver of neighbour reports; call it before the first resolve_neighbour.
  void attach(soft::SoftTransport& transport) { transport_ = &transport; }

  [[nodiscard]] int interface() const { return addresses_.interface; }
  [[nodiscard]] std::vector<ibv_gid> gids(std::size_t size) const { return addresses_.gids(size); }

  /// To an own address: local. To others: the system's answer if it has no route; if it has one,
  /// a route whose neighbour never answers.
  [[nodiscard]] verbs::Result<soft::Route> route(const soft::Address* source,
                                                 const soft::Address& destination) override;
  [[nodiscard]] verbs::Result<int> interface_of(const soft::Address& local) override;
  /// Answers at once: no waiting will bring a member from outside this machine.
  void resolve_neighbour(soft::NeighbourToken token, const soft::Route& route,
                         std::chrono::milliseconds timeout) override;
  void cancel_neighbour(soft::NeighbourToken) override {}

 private:
  [[nodiscard]] bool own(const soft::Address& address) const;

  HostAddresses addresses_;
  soft::SoftTransport* transport_ = nullptr;
};

}  // namespace anyrdma::transport::fabric
