#include "transport/soft/address.h"

#include <arpa/inet.h>
#include <endian.h>
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

// The port spaces that a service id may name, and how an Address says that it names any or none.
constexpr std::uint32_t kAnySpace = 0;
constexpr std::uint32_t kNoSpace = ~std::uint32_t{0};
constexpr unsigned kSpaceShift = 16;

// A mask that leaves some bits of the space open is taken for a whole one.
Address from_ib(const sockaddr_ib& ib) {
  const std::uint64_t mask = be64toh(ib.sib_sid_mask);
  const std::uint64_t service = be64toh(ib.sib_sid) & mask;
  const std::uint64_t space = service >> kSpaceShift;
  Address address{.family = AF_IB, .port = static_cast<std::uint16_t>(service)};
  if (mask >> kSpaceShift != 0) {
    const bool possible = space != kAnySpace && space < kNoSpace;
    address.scope = possible ? static_cast<std::uint32_t>(space) : kNoSpace;
  }
  std::memcpy(address.ip.data(), &ib.sib_addr, address.ip.size());
  return address;
}

sockaddr_ib to_ib(const Address& address) {
  constexpr std::uint16_t kDefaultPartition = 0xffff;
  sockaddr_ib ib{};
  ib.sib_family = AF_IB;
  ib.sib_pkey = htons(kDefaultPartition);
  std::memcpy(&ib.sib_addr, address.ip.data(), address.ip.size());
  ib.sib_sid = htobe64(std::uint64_t{address.scope} << kSpaceShift | address.port);
  ib.sib_sid_mask = ~std::uint64_t{0};
  return ib;
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
  if (address.sa_family == AF_IB) {
    sockaddr_ib ib;
    std::memcpy(&ib, &address, sizeof ib);
    return from_ib(ib);
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

verbs::Result<Address> Address::for_space(rdma_port_space space) const {
  const bool own = scope == kAnySpace || scope == static_cast<std::uint32_t>(space);
  const bool lent = space == RDMA_PS_IB && (scope == RDMA_PS_TCP || scope == RDMA_PS_UDP);
  if (space == RDMA_PS_IPOIB || (!own && !lent)) return verbs::errno_code(EPROTONOSUPPORT);
  Address result = *this;
  if (scope == kAnySpace) result.scope = static_cast<std::uint32_t>(space);
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
  if (family == AF_INET)
    return std::all_of(ip.begin() + kIpv4Offset, ip.end(),
                       [](std::uint8_t byte) { return byte == 0; });
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
  } else if (family == AF_IB) {
    const sockaddr_ib ib = to_ib(*this);
    std::memcpy(&storage, &ib, sizeof ib);
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
