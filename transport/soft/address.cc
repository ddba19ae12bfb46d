#include "transport/soft/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

namespace anyrdma::transport::soft {
namespace {

constexpr std::size_t kIpv4Offset = 12;  // of the IPv4 part in an IPv4-mapped address
constexpr std::array<std::uint8_t, 16> kMappedPrefix{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
constexpr std::array<std::uint8_t, 16> kLoopback6{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

Address mapped(const void* four_bytes, std::uint16_t port) {
  Address address{.family = AF_INET, .port = port, .ip = kMappedPrefix};
  std::memcpy(address.ip.data() + kIpv4Offset, four_bytes, 4);
  return address;
}

bool starts_mapped(const std::array<std::uint8_t, 16>& ip) {
  return std::equal(ip.begin(), ip.begin() + kIpv4Offset, kMappedPrefix.begin());
}

}  // namespace

verbs::Result<Address> Address::from(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    sockaddr_in in;
    std::memcpy(&in, &address, sizeof in);
    return mapped(&in.sin_addr, ntohs(in.sin_port));
  }
  if (address.sa_family != AF_INET6) return verbs::errno_code(EINVAL);
  sockaddr_in6 in6;
  std::memcpy(&in6, &address, sizeof in6);
  Address result{.family = AF_INET6, .port = ntohs(in6.sin6_port)};
  std::memcpy(result.ip.data(), &in6.sin6_addr, result.ip.size());
  if (!result.is_link_local()) return result;
  if (in6.sin6_scope_id == 0) return verbs::errno_code(EINVAL);
  result.scope = in6.sin6_scope_id;
  return result;
}

Address Address::ipv4(std::uint32_t host_order, std::uint16_t port) {
  const std::uint32_t network_order = htonl(host_order);
  return mapped(&network_order, port);
}

Address Address::wildcard(sa_family_t family) {
  return family == AF_INET ? ipv4(INADDR_ANY) : Address{.family = family};
}

Address Address::loopback(sa_family_t family) {
  return family == AF_INET ? ipv4(INADDR_LOOPBACK) : Address{.family = family, .ip = kLoopback6};
}

Address Address::from_gid(const ibv_gid& gid) {
  Address address{.family = AF_INET6};
  std::memcpy(address.ip.data(), gid.raw, address.ip.size());
  if (starts_mapped(address.ip)) address.family = AF_INET;
  return address;
}

bool Address::is_zero() const {
  if (family == AF_INET) return ip[kIpv4Offset] == 0;
  return ip == std::array<std::uint8_t, 16>{};
}

bool Address::is_loopback() const {
  return family == AF_INET ? ip[kIpv4Offset] == 127 : ip == kLoopback6;
}

bool Address::is_multicast() const {
  return family == AF_INET ? (ip[kIpv4Offset] & 0xf0) == 0xe0 : ip[0] == 0xff;
}

bool Address::is_link_local() const {
  return family == AF_INET6 && ip[0] == 0xfe && (ip[1] & 0xc0) == 0x80;
}

bool Address::same_ip(const Address& other) const {
  return family == other.family && ip == other.ip && scope == other.scope;
}

ibv_gid Address::gid() const {
  return std::bit_cast<ibv_gid>(ip);
}

sockaddr_storage Address::to_sockaddr() const {
  sockaddr_storage storage{};
  if (family == AF_INET) {
    sockaddr_in in{};
    in.sin_family = AF_INET;
    in.sin_port = htons(port);
    std::memcpy(&in.sin_addr, ip.data() + kIpv4Offset, 4);
    std::memcpy(&storage, &in, sizeof in);
  } else if (family == AF_INET6) {
    sockaddr_in6 in6{};
    in6.sin6_family = AF_INET6;
    in6.sin6_port = htons(port);
    std::memcpy(&in6.sin6_addr, ip.data(), ip.size());
    in6.sin6_scope_id = scope;
    std::memcpy(&storage, &in6, sizeof in6);
  }
  return storage;
}

std::string Address::to_string() const {
  if (family == AF_UNSPEC) return "none";
  char text[INET6_ADDRSTRLEN] = {};
  std::string result;
  if (family == AF_INET) {
    inet_ntop(AF_INET, ip.data() + kIpv4Offset, text, sizeof text);
    result = text;
  } else {
    inet_ntop(AF_INET6, ip.data(), text, sizeof text);
    result.append("[").append(text);
    if (scope != 0) result.append("%").append(std::to_string(scope));
    result.append("]");
  }
  return result.append(":").append(std::to_string(port));
}

}  // namespace anyrdma::transport::soft
