// The interface to the host's IP stack: the route to an address, the interface that has an address,
// and whether a neighbour answers. The simulator implements the interface for simulated hosts.
// Real-time transports ask the system.
#pragma once

#include <chrono>
#include <cstdint>

#include "transport/soft/address.h"
#include "verbs/result.h"

namespace anyrdma::transport::soft {

/// The route from this host to a destination.
struct Route {
  Address source{};       ///< local address to send from; its port is not used
  Address destination{};  ///< the address to which the route leads
  Address next_hop{};     ///< the neighbour to resolve: the destination itself or a gateway
  int interface = 0;      ///< index of the interface that sends the packets

  /// The destination is an own address of this host, so no neighbour is needed.
  bool local = false;
};

/// The number of a link address that an interface can have. Only equality of two numbers has a
/// meaning.
enum class LinkNumber : std::uint32_t {};

/// The number of a call of resolve_neighbour, which the answer repeats.
enum class NeighbourToken : std::uint64_t {};

/// The IP stack of one host. All functions are called inside the critical section
/// (verbs::Runtime::enter) and return at once. SoftTransport::add_device says which interface
/// carries which HCA.
class Network {
 public:
  virtual ~Network() = default;
  /// Looks up the IP route to a destination. `source` is the local address to which the id is
  /// bound. Null: the IP stack may choose it. Never called for wildcard or loopback destinations,
  /// which the transport handles itself. ENETUNREACH: no route; EHOSTUNREACH; EADDRNOTAVAIL:
  /// `source` is no address of this host.
  [[nodiscard]] virtual verbs::Result<Route> route(const Address* source,
                                                   const Address& destination) = 0;
  /// Returns the index of the interface that is up and has the address `local`, whose port is
  /// ignored. EADDRNOTAVAIL: no interface has the address.
  [[nodiscard]] virtual verbs::Result<int> interface_of(const Address& local) = 0;
  /// Finds the link address of route.next_hop. The answer is a call of
  /// SoftTransport::on_neighbour(token, 0), or with ETIMEDOUT after `timeout`. Exactly one answer
  /// comes, perhaps from within this call, unless cancel_neighbour() is called.
  virtual void resolve_neighbour(NeighbourToken token, const Route& route,
                                 std::chrono::milliseconds timeout) = 0;
  /// Cancels a call of resolve_neighbour or resolve_path: no answer for `token` follows.
  virtual void cancel_neighbour(NeighbourToken token) = 0;
  /// Whether the path to a resolved address must be looked up, as on InfiniBand. If true,
  /// SoftTransport::on_path follows for `token`, unless cancel_neighbour() is called. It does not
  /// come from within this call.
  [[nodiscard]] virtual bool resolve_path(NeighbourToken token, std::chrono::milliseconds timeout) {
    (void)token;
    (void)timeout;
    return false;
  }
  /// Returns the present link address of an interface. The default is always the same number.
  [[nodiscard]] virtual LinkNumber link_of(int interface) {
    (void)interface;
    return {};
  }
  /// Returns the link address of a neighbour that this host has learned last.
  [[nodiscard]] virtual LinkNumber link_of(int interface, const Address& neighbour) {
    (void)interface;
    (void)neighbour;
    return {};
  }
  /// Makes the interface that has the address `local` a member of an IPv4 group (kernel:
  /// cma_igmp_send), or counts one more membership. An error becomes the error of the application's
  /// call. The default does nothing, for networks on which every host receives every group.
  [[nodiscard]] virtual verbs::Result<void> join_group(const Address& local, const Address& group) {
    (void)local;
    (void)group;
    return {};
  }
  /// Undoes one successful join_group().
  virtual void leave_group(const Address& local, const Address& group) {
    (void)local;
    (void)group;
  }
};

}  // namespace anyrdma::transport::soft
