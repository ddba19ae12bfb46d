// Queries the kernel's routes and neighbours over rtnetlink. Needs no privilege.
#pragma once

#include "transport/realtime/descriptor.h"
#include "transport/soft/address.h"
#include "verbs/result.h"

namespace anyrdma::transport::udp {

/// The kernel answers while it takes the question, so no call waits.
class RouteSocket {
 public:
  /// Always asks the network namespace of the thread that created it. EMFILE, EACCES, EAFNOSUPPORT
  /// ...
  [[nodiscard]] static verbs::Result<RouteSocket> open();

  /// The kernel's answer.
  struct Route {
    soft::Address source{};    ///< what the system would send from; AF_UNSPEC: it did not say
    soft::Address next_hop{};  ///< a gateway, or the destination itself
    int interface = 0;         ///< that carries it
    bool local = false;        ///< stays on this machine
  };
  /// Ports are ignored. `source` may be null. ENETUNREACH, EHOSTUNREACH, EACCES, EINVAL: as the
  /// route or its absence says.
  [[nodiscard]] verbs::Result<Route> route(const soft::Address* source,
                                           const soft::Address& destination);

  /// The kernel's state of a neighbour's link address.
  enum class Neighbour : std::uint8_t {
    kKnown,
    kAsking,   ///< its request is under way
    kUnknown,  ///< no recent query, or no answer
  };
  [[nodiscard]] Neighbour neighbour(int interface, const soft::Address& address);

  /// Readable, while watching, whenever the kernel learns something about any neighbour.
  [[nodiscard]] int news() const { return news_.get(); }
  void watch_neighbours(bool on);
  /// Makes news() unreadable again. False: there were none.
  bool discard_news();

  /// Call in a forked child, so that it does not take the parent's answers: no route is known from
  /// then on.
  void close();

 private:
  RouteSocket() = default;

  realtime::Descriptor questions_;
  realtime::Descriptor news_;
};

}  // namespace anyrdma::transport::udp
