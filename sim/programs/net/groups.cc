// What sockets send to all: multicast groups, and the broadcast addresses of networks. Source:
// ip(7), ipv6(7).
#include <netinet/in.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>
#include <span>

#include "sim/host.h"
#include "sim/programs/net/sockets.h"
#include "sim/programs/process/supervisor.h"
#include "transport/soft/broadcast.h"

namespace anyrdma::sim::programs {
namespace {

/// Reads a structure from the beginning of an option's value.
template <typename T>
std::optional<T> read_as(std::span<const std::byte> value) {
  if (value.size() < sizeof(T)) return std::nullopt;
  T result;
  std::memcpy(&result, value.data(), sizeof result);
  return result;
}

Address of_version_4(const in_addr& address) {
  return Address::ipv4(ntohl(address.s_addr));
}

Address of_version_6(const in6_addr& address) {
  ibv_gid gid{};
  std::memcpy(gid.raw, &address, sizeof gid.raw);
  return Address::from_gid(gid);
}

/// What an option that joins or leaves a group says.
struct Membership {
  bool joins;
  std::optional<Address> group;  ///< nullopt: the value is too short
};

std::optional<Address> group_of_request(std::span<const std::byte> value) {
  const auto request = read_as<group_req>(value);
  if (!request) return std::nullopt;
  const auto address = Address::from(reinterpret_cast<const sockaddr&>(request->gr_group));
  return address ? std::optional(*address) : Address{};
}

std::optional<Membership> membership_of(int level, int name, std::span<const std::byte> value) {
  if ((level == IPPROTO_IP || level == IPPROTO_IPV6) &&
      (name == MCAST_JOIN_GROUP || name == MCAST_LEAVE_GROUP))
    return Membership{name == MCAST_JOIN_GROUP, group_of_request(value)};
  if (level == IPPROTO_IP && (name == IP_ADD_MEMBERSHIP || name == IP_DROP_MEMBERSHIP)) {
    const auto request = read_as<ip_mreq>(value);
    return Membership{name == IP_ADD_MEMBERSHIP,
                      request ? std::optional(of_version_4(request->imr_multiaddr)) : std::nullopt};
  }
  if (level == IPPROTO_IPV6 && (name == IPV6_JOIN_GROUP || name == IPV6_LEAVE_GROUP)) {
    const auto request = read_as<ipv6_mreq>(value);
    return Membership{
        name == IPV6_JOIN_GROUP,
        request ? std::optional(of_version_6(request->ipv6mr_multiaddr)) : std::nullopt};
  }
  return std::nullopt;
}

using transport::soft::is_broadcast;
using transport::soft::is_limited_broadcast;

bool same_group(const Address& a, const Address& b) {
  return a.ip == b.ip;
}

}  // namespace

bool Sockets::is_for_all(const Address& address, const Host& host) {
  if (address.is_multicast()) return true;
  if (is_limited_broadcast(address)) return true;
  for (std::size_t i = 0; i < host.interfaces().size(); ++i) {
    for (const transport::soft::Prefix& prefix : host.interfaces()[i].prefixes)
      if (is_broadcast(prefix, address)) return true;
  }
  return false;
}

std::optional<int> Sockets::set_group_option(Socket& socket, int level, int name,
                                             std::span<const std::byte> value) {
  if (level == IPPROTO_IP && name == IP_MULTICAST_IF) {
    // The address of the interface stands in the same place of an ip_mreqn.
    const auto short_form = read_as<in_addr>(value);
    if (!short_form) return EINVAL;
    const auto middle_form = read_as<ip_mreq>(value);
    const Address source = of_version_4(middle_form ? middle_form->imr_interface : *short_form);
    socket.group_source = source.is_zero() ? Address{} : source;
    return 0;
  }
  const auto membership = membership_of(level, name, value);
  if (!membership) return std::nullopt;
  if (!membership->group || !membership->group->is_multicast()) return EINVAL;
  const auto joined = std::ranges::find_if(
      socket.groups, [&](const Address& each) { return same_group(each, *membership->group); });
  if (membership->joins) {
    if (joined != socket.groups.end()) return EADDRINUSE;
    socket.groups.push_back(*membership->group);
  } else {
    if (joined == socket.groups.end()) return EADDRNOTAVAIL;
    socket.groups.erase(joined);
  }
  return 0;
}

int Sockets::send_to_all(const Descriptor& descriptor, Socket& socket, const Address& target,
                         std::span<const std::byte> bytes) {
  const bool to_group = target.is_multicast();
  int allowed = 0;
  socklen_t size = sizeof allowed;
  const bool knows = ::getsockopt(descriptor.get(), SOL_SOCKET, SO_BROADCAST, &allowed, &size) == 0;
  if (!to_group && (!knows || allowed == 0)) return EACCES;
  if (socket.port == 0) {
    if (const int error = bind_to_any(descriptor, socket); error != 0) return error;
  }
  const auto source = source_for_all(socket, target);
  if (!source) return source.error().value();
  socket.source = *source;
  socket.source.port = socket.port;
  streams_.pump();  // what was written before goes before
  sender_.send(*socket.host, socket.source, target, bytes);
  // The host hears itself, unless a socket that sends to groups says otherwise.
  const bool hears_itself =
      !to_group || socket.source.is_loopback() || socket.options.hears_own_groups(target.family);
  if (hears_itself) deliver_to_all(*socket.host, target, socket.source, bytes);
  supervisor_.look();
  return 0;
}

verbs::Result<Address> Sockets::source_for_all(const Socket& socket, const Address& target) {
  if (socket.group_source.family == target.family) return socket.group_source;
  const bool bound = socket.local.family == target.family && !socket.local.is_any() &&
                     !is_for_all(socket.local, *socket.host);
  if (bound) return socket.local;
  const Interfaces& interfaces = socket.host->interfaces();
  for (std::size_t i = 0; i < interfaces.size(); ++i) {
    for (const transport::soft::Prefix& prefix : interfaces[i].prefixes) {
      const bool fits =
          target.is_multicast() || is_limited_broadcast(target) || is_broadcast(prefix, target);
      if (prefix.address.family == target.family && !prefix.address.is_loopback() && fits)
        return prefix.address;
    }
  }
  return verbs::errno_code(ENETUNREACH);
}

/// As with IP_MULTICAST_ALL, which is the default: a group that a socket of the host has joined is
/// heard by all sockets of the port that are bound to no other address.
void Sockets::deliver_to_all(const Host& at, const Address& target, const Address& source,
                             std::span<const std::byte> bytes) {
  if (target.is_multicast()) {
    const bool joined = std::ranges::any_of(inodes_, [&](const auto& each) {
      const auto& [name, inode] = each;
      const Socket& socket = sockets_.at(inode);
      return socket.host == &at && socket.type == SOCK_DGRAM &&
             std::ranges::any_of(socket.groups,
                                 [&](const Address& group) { return same_group(group, target); }) &&
             files_.is_open(name, SOCK_DGRAM);
    });
    if (!joined) return;
  }
  for (const std::string& name : names_at(at, target.port, SOCK_DGRAM)) {
    const Address& peer = sockets_.at(inodes_.at(name)).peer;
    const bool from_peer =
        peer.family == AF_UNSPEC || (peer.ip == source.ip && peer.port == source.port);
    if (is_open_to(name, target) && from_peer) (void)deliver_into(name, source, bytes);
  }
}

}  // namespace anyrdma::sim::programs
