// An IP socket address as a value: the content of sockaddr_in or sockaddr_in6, with comparison.
#pragma once

#include <infiniband/ib.h>
#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <string>

#include "verbs/result.h"

namespace anyrdma::transport::soft {

/// An address of IPv4, IPv6 or AF_IB. IPv4 addresses are stored IPv4-mapped, so that `ip` is also
/// the RoCE v2 GID of the address. For AF_IB, `ip` is the GID, and the service id is stored as port
/// space (in `scope`) and `port`. Family AF_UNSPEC means that there is no address yet. Flow labels
/// are not stored.
struct Address {
  sa_family_t family = AF_UNSPEC;
  std::uint16_t port = 0;   ///< in host byte order
  std::uint32_t scope = 0;  ///< interface of an IPv6 link-local address; AF_IB: port space; else 0
  std::array<std::uint8_t, 16> ip{};

  bool operator==(const Address&) const = default;

  /// Converts a socket address. EINVAL: the family is not AF_INET, AF_INET6 or AF_IB, or an IPv6
  /// link-local address has no scope (rdma_bind_addr).
  [[nodiscard]] static verbs::Result<Address> from(const sockaddr& address);
  /// Returns the AF_IB address to which an id of that port space binds. EPROTONOSUPPORT: the
  /// service id belongs to another port space (kernel: cma_select_ib_ps).
  [[nodiscard]] verbs::Result<Address> for_space(rdma_port_space space) const;
  /// Makes an IPv4 address from a number in host byte order: ipv4(0x7f000001) is 127.0.0.1.
  [[nodiscard]] static Address ipv4(std::uint32_t host_order, std::uint16_t port = 0);
  /// 0.0.0.0 or [::] with port 0.
  [[nodiscard]] static Address wildcard(sa_family_t family);
  /// 127.0.0.1 or [::1] with port 0.
  [[nodiscard]] static Address loopback(sa_family_t family);
  /// Returns the IP address of a RoCE v2 GID; port 0.
  [[nodiscard]] static Address from_gid(const ibv_gid& gid);

  /// Whether this is the wildcard address, 0.0.0.0 or [::] (kernel: cma_zero_addr).
  [[nodiscard]] bool is_zero() const;
  /// 127/8 or [::1].
  [[nodiscard]] bool is_loopback() const;
  /// Whether Linux's CM treats this as the "any" address: wildcard or loopback (kernel:
  /// cma_any_addr).
  [[nodiscard]] bool is_any() const { return is_zero() || is_loopback(); }
  /// 224/4 or ff00::/8.
  [[nodiscard]] bool is_multicast() const;
  /// fe80::/10.
  [[nodiscard]] bool is_link_local() const;
  /// Whether families and addresses are equal, and, for link-local addresses, the scopes. Ports are
  /// not compared.
  [[nodiscard]] bool same_ip(const Address& other) const;

  [[nodiscard]] ibv_gid gid() const;
  [[nodiscard]] sockaddr_storage to_sockaddr() const;
  /// Returns the address as text for traces and test messages: "192.0.2.1:7471", "[fe80::1%2]:80".
  [[nodiscard]] std::string to_string() const;
};

}  // namespace anyrdma::transport::soft
