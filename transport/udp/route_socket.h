// Queries the kernel's routes and neighbours over rtnetlink. Needs no privilege.
#pragma once

#include "transport/realtime/descriptor.h"
#include "transport/soft/address.h"
#include "verbs/result.h"

namespace anyrdma::transport::udp {

/// A netlink socket for routes and neighbours. The kernel answers within the send call, so no call
/// waits.
class RouteSocket {
 public:
  /// Always asks the network namespace of the thread that created it. EMFILE, EACCES, EAFNOSUPPORT
  /// ...
  [[nodiscard]] static verbs::Result<RouteSocket> open();

  /// The route that the kernel chooses.
  struct Route {
    soft::Address source{};    ///< what the system would send from; AF_UNSPEC: it did not say
    soft::Address next_hop{};  ///< a gateway, or the destination itself
    int interface = 0;         ///< that carries it
    bool local = false;        ///< stays on this machine
  };
  /// Asks the kernel for the route to `destination`. Ports are ignored, and `source` may be null.
  /// ENETUNREACH, EHOSTUNREACH, EACCES, EINVAL: there is no route, or the route itself says so.
  [[nodiscard]] verbs::Result<Route> route(const soft::Address* source,
                                           const soft::Address& destination);

  /// The kernel's state of a neighbour's link address.
  enum class Neighbour : std::uint8_t {
    kKnown,
    kAsking,   ///< its request is under way
    kUnknown,  ///< no recent query, or no answer
  };
  [[nodiscard]] Neighbour neighbour(int interface, const soft::Address& address);

  /// Returns a descriptor that is readable while the kernel has reported a change of any neighbour.
  /// Watching must be on.
  [[nodiscard]] int news() const { return news_.get(); }
  void watch_neighbours(bool on);
  /// Reads and drops these reports, so that news() is not readable. False: there were none.
  bool discard_news();

  /// Call in a forked child, so that the child does not read the parent's answers. Later route
  /// queries fail.
  void close();

 private:
  RouteSocket() = default;

  realtime::Descriptor questions_;
  realtime::Descriptor news_;
};

}  // namespace anyrdma::transport::udp
