// Asks the kernel for routes and neighbours over rtnetlink, which needs no privilege.
#pragma once

#include "transport/realtime/descriptor.h"
#include "transport/soft/address.h"
#include "verbs/result.h"

namespace anyrdma::transport::udp {

/// A netlink socket for routes and neighbours. The kernel answers within the send call, so no
/// function waits.
class RouteSocket {
 public:
  /// Opens a socket for the network namespace of the calling thread. Errors: EMFILE, EACCES,
  /// EAFNOSUPPORT ...
  [[nodiscard]] static verbs::Result<RouteSocket> open();

  /// The route that the kernel chooses to a destination.
  struct Route {
    /// Address that the system would send from; AF_UNSPEC: it did not say.
    soft::Address source{};
    soft::Address next_hop{};  ///< a gateway, or the destination itself
    int interface = 0;         ///< index of the interface that sends the packets
    bool local = false;        ///< the destination is on this machine
  };
  /// Asks the kernel for the route to `destination`. Ports are ignored, and `source` may be null.
  /// ENETUNREACH, EHOSTUNREACH, EACCES, EINVAL: there is no route, or the route has this error.
  [[nodiscard]] verbs::Result<Route> route(const soft::Address* source,
                                           const soft::Address& destination);

  /// The state that the kernel has recorded for a neighbour's link address.
  enum class Neighbour : std::uint8_t {
    kKnown,
    kAsking,   ///< the kernel has asked for the address and waits
    kUnknown,  ///< the kernel has not asked recently, or got no answer
  };
  [[nodiscard]] Neighbour neighbour(int interface, const soft::Address& address);

  /// Returns a descriptor that is readable when the kernel has reported a change of any neighbour.
  /// Precondition: watch_neighbours(true) was called.
  [[nodiscard]] int news() const { return news_.get(); }
  void watch_neighbours(bool on);
  /// Reads and drops these reports, so that news() is not readable any more. False: there were no
  /// reports.
  bool discard_news();

  /// Call in a forked child, so that the child does not read the parent's answers. Later queries
  /// for routes fail.
  void close();

 private:
  RouteSocket() = default;

  realtime::Descriptor questions_;
  realtime::Descriptor news_;
};

}  // namespace anyrdma::transport::udp
