// Where a scenario's ids are bound to and whom they ask: by role, because every backend has
// addresses of its own.
#pragma once

#include <netinet/in.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace anyrdma::conformance {

/// What an address is for. Every backend knows all of them.
enum class Role : std::uint8_t {
  kServer,
  kServerOther,  ///< a second address of the server, on the same device
  kClient,
  kAny,       ///< 0.0.0.0
  kAny6,      ///< ::
  kLoopback,  ///< 127.0.0.1
  kNobody,    ///< in the parties' network, and nobody answers
  kDeaf,      ///< a neighbour that answers, and has no RDMA; needs kDeafNeighbour
  kMoving,    ///< as kDeaf, and its link address changes; needs kMovingNeighbour
  kNowhere,   ///< no route leads there
  kForeign,   ///< an address of none of the parties, as one to bind to
  kGroup,     ///< a multicast group of the scenario's own
  kGroup6,    ///< the same, IPv6
};
inline constexpr Role kLastRole = Role::kGroup6;

/// "server", "other" ...: how the records call it.
[[nodiscard]] std::string_view to_string(Role role);

/// An address and a port.
struct Place {
  Role role;
  /// The scenario's ports count from 0; kEphemeral: port 0, any will do.
  int port = 0;
  static constexpr int kEphemeral = -1;
  static constexpr int kPrivileged = -2;  ///< port 7, a small one
};

inline constexpr Place kServer{Role::kServer};
inline constexpr Place kServerOther{Role::kServerOther};
inline constexpr Place kClient{Role::kClient};
inline constexpr Place kAny{Role::kAny};
inline constexpr Place kAny6{Role::kAny6};
inline constexpr Place kLoopback{Role::kLoopback};
inline constexpr Place kNobody{Role::kNobody};
inline constexpr Place kDeaf{Role::kDeaf};
inline constexpr Place kMoving{Role::kMoving};
inline constexpr Place kNowhere{Role::kNowhere};
inline constexpr Place kForeign{Role::kForeign};
inline constexpr Place kGroup{Role::kGroup, Place::kEphemeral};
inline constexpr Place kGroup6{Role::kGroup6, Place::kEphemeral};

/// The same address with another of the scenario's ports: 1, 2 ...
[[nodiscard]] constexpr Place with_port(Place place, int port) {
  return {place.role, port};
}
/// The same address, and any free port.
[[nodiscard]] constexpr Place any_port(Place place) {
  return {place.role, Place::kEphemeral};
}

/// An address as calls take it.
class Address {
 public:
  Address(const std::string& ip, std::uint16_t port);
  /// Calls take it without const, and do not change it.
  [[nodiscard]] sockaddr* get() const {
    return const_cast<sockaddr*>(reinterpret_cast<const sockaddr*>(&storage_));
  }

 private:
  sockaddr_storage storage_{};
};

/// The text of an address without its port: "192.0.2.1"; empty: none.
[[nodiscard]] std::string ip_of(const sockaddr& address);
/// Host order; 0: none.
[[nodiscard]] std::uint16_t port_of(const sockaddr& address);

}  // namespace anyrdma::conformance
