// The interface to the host's IP stack: the route to an address, the interface that owns an
// address, and whether a neighbour answers. The simulator implements it for simulated hosts;
// real-time transports ask the system.
#pragma once

#include <chrono>
#include <cstdint>

#include "transport/soft/address.h"
#include "verbs/result.h"

namespace anyrdma::transport::soft {

/// The way from this host to a destination.
struct Route {
  Address source{};       ///< the local address to send from; port unused
  Address destination{};  ///< what was asked for
  Address next_hop{};     ///< the neighbour to resolve: the destination itself or a gateway
  int interface = 0;      ///< index of the interface that carries it
  bool local = false;  ///< the destination is one of this host's own addresses: no neighbour needed
};

/// One of the link addresses that an interface can have. Only equality has a meaning.
enum class LinkNumber : std::uint32_t {};

/// The number of a question to resolve_neighbour, which the answer repeats.
enum class NeighbourToken : std::uint64_t {};

/// One host. All functions are called inside the runtime's critical section and return at once.
/// Which interface carries which HCA is said to the transport: SoftTransport::add_device.
class Network {
 public:
  virtual ~Network() = default;
  /// The IP route lookup. `source` is the local address the id is bound to, or null when the stack
  /// may choose. Never asked for wildcard or loopback destinations: those the transport answers
  /// itself. ENETUNREACH: no route; EHOSTUNREACH; EADDRNOTAVAIL: source is not ours.
  [[nodiscard]] virtual verbs::Result<Route> route(const Address* source,
                                                   const Address& destination) = 0;
  /// The index of the interface, being up, that owns `local` (its port is ignored). EADDRNOTAVAIL:
  /// none.
  [[nodiscard]] virtual verbs::Result<int> interface_of(const Address& local) = 0;
  /// Finds the link address of route.next_hop. The answer is SoftTransport::on_neighbour(token, 0),
  /// or with ETIMEDOUT after `timeout`; exactly one, unless cancelled. It may come from within this
  /// call.
  virtual void resolve_neighbour(NeighbourToken token, const Route& route,
                                 std::chrono::milliseconds timeout) = 0;
  /// Cancels a question: no answer for `token` follows.
  virtual void cancel_neighbour(NeighbourToken token) = 0;
  /// Whether the path to a resolved address has to be asked for, as on InfiniBand: then
  /// SoftTransport::on_path follows for `token`, unless cancelled as above. Not from within this
  /// call.
  [[nodiscard]] virtual bool resolve_path(NeighbourToken token, std::chrono::milliseconds timeout) {
    (void)token;
    (void)timeout;
    return false;
  }
  /// Returns the present link address of an interface. Default: always the same.
  [[nodiscard]] virtual LinkNumber link_of(int interface) {
    (void)interface;
    return {};
  }
  /// Returns the link address of a neighbour that this host learned last.
  [[nodiscard]] virtual LinkNumber link_of(int interface, const Address& neighbour) {
    (void)interface;
    (void)neighbour;
    return {};
  }
  /// Makes the interface that owns `local` a member of an IPv4 group (kernel: cma_igmp_send), or
  /// counts one more membership. Its error is that of the call. Does nothing where every host
  /// receives every group.
  [[nodiscard]] virtual verbs::Result<void> join_group(const Address& local, const Address& group) {
    (void)local;
    (void)group;
    return {};
  }
  /// Undoes one successful join_group.
  virtual void leave_group(const Address& local, const Address& group) {
    (void)local;
    (void)group;
  }
};

}  // namespace anyrdma::transport::soft
