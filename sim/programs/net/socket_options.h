// The options of IP, IPv6, TCP and UDP sockets of programs.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "sim/tcp/endpoint.h"

namespace anyrdma::sim::programs {

/// The values that a program has set for a socket, and Linux's defaults for the others. Options
/// that change how packets look on the wire have no further effect. Source: ip(7), ipv6(7), tcp(7).
class SocketOptions {
 public:
  /// The longest value that is kept. Longer ones are cut off.
  static constexpr std::size_t kBytesMax = 256;

  /// The state of the connection, which decides some values.
  struct State {
    bool connected = false;
    bool listening = false;
  };

  /// Whether setsockopt(2) takes the value; otherwise the call fails with EINVAL. Only the values
  /// of TCP's keepalive are checked.
  [[nodiscard]] static bool is_valid(int level, int name, std::span<const std::byte> value);
  /// setsockopt(2) with a level other than SOL_SOCKET.
  void set(int level, int name, std::span<const std::byte> value);
  /// getsockopt(2): the whole value; the caller shortens it to the size of the buffer. An option
  /// that is not known is an int of 0.
  [[nodiscard]] std::vector<std::byte> get(int level, int name, State state) const;

  /// IPV6_V6ONLY: whether an IPv6 socket hears nothing that is sent to IPv4 addresses.
  [[nodiscard]] bool only_ipv6() const;
  /// IP_MULTICAST_LOOP and IPV6_MULTICAST_LOOP: whether the host hears what the socket sends to
  /// groups of a family.
  [[nodiscard]] bool hears_own_groups(sa_family_t family) const;

  /// TCP_KEEPIDLE, TCP_KEEPINTVL and TCP_KEEPCNT.
  [[nodiscard]] tcp::Keepalive keepalive() const;

 private:
  [[nodiscard]] int number(int level, int name, int otherwise) const;

  std::map<std::pair<int, int>, std::vector<std::byte>> set_;
};

}  // namespace anyrdma::sim::programs
