#include "cm/rsocket/datagram_wire.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cstring>

namespace anyrdma::rsocket {
namespace {

constexpr std::uint32_t kTag = 0x55555555;
constexpr std::uint32_t kQueuePairs = 0xff'ffff;
constexpr std::uint8_t kVersion4 = 4;
constexpr std::uint8_t kVersion6 = 6;

// The header in UDP: tag, version, operation, length, reserved, queue pair, address.
constexpr std::size_t kAtVersion = 4;
constexpr std::size_t kAtOperation = 5;
constexpr std::size_t kAtLength = 6;
constexpr std::size_t kAtQueuePair = 8;
constexpr std::size_t kAtAddress = 12;
constexpr std::size_t kUdpHeader4 = kAtAddress + sizeof(in_addr);
constexpr std::size_t kUdpHeader6 = kAtAddress + sizeof(in6_addr);

// The header between queue pairs: version, length, port, flow (IPv6), address.
constexpr std::size_t kAtPort = 2;
constexpr std::size_t kAtFlow = 4;
constexpr std::size_t kAtAddress4 = 4;
constexpr std::size_t kAtAddress6 = 8;
constexpr std::size_t kSource4 = kAtAddress4 + sizeof(in_addr);
constexpr std::size_t kSource6 = kAtAddress6 + sizeof(in6_addr);

const sockaddr_in& in4(const Name& name) {
  return reinterpret_cast<const sockaddr_in&>(name.storage);
}
sockaddr_in& in4(Name& name) {
  return reinterpret_cast<sockaddr_in&>(name.storage);
}
const sockaddr_in6& in6(const Name& name) {
  return reinterpret_cast<const sockaddr_in6&>(name.storage);
}
sockaddr_in6& in6(Name& name) {
  return reinterpret_cast<sockaddr_in6&>(name.storage);
}

/// Copies an object whose bytes are in network order already.
template <class Field>
void put_raw(std::span<std::byte> out, std::size_t at, const Field& field) {
  std::memcpy(out.subspan(at, sizeof field).data(), &field, sizeof field);
}
template <class Field>
void get_raw(std::span<const std::byte> in, std::size_t at, Field& field) {
  std::memcpy(&field, in.subspan(at, sizeof field).data(), sizeof field);
}

Name empty_name(int family) {
  Name name;
  name.storage.ss_family = static_cast<sa_family_t>(family);
  name.length = length_of(family);
  return name;
}

}  // namespace

std::vector<std::byte> put_udp_header(const UdpHeader& header) {
  const bool is_6 = header.local.family() == AF_INET6;
  std::vector<std::byte> bytes(is_6 ? kUdpHeader6 : kUdpHeader4);
  put_raw(bytes, 0, htonl(kTag));
  bytes[kAtVersion] = std::byte{is_6 ? kVersion6 : kVersion4};
  bytes[kAtOperation] = static_cast<std::byte>(header.operation);
  bytes[kAtLength] = static_cast<std::byte>(bytes.size());
  put_raw(bytes, kAtQueuePair, htonl(header.queue_pair & kQueuePairs));
  if (is_6) {
    put_raw(bytes, kAtAddress, in6(header.local).sin6_addr);
  } else {
    put_raw(bytes, kAtAddress, in4(header.local).sin_addr);
  }
  return bytes;
}

std::optional<Headed<UdpHeader>> get_udp_header(std::span<const std::byte> packet, int family) {
  const bool is_6 = family == AF_INET6;
  const std::size_t size = is_6 ? kUdpHeader6 : kUdpHeader4;
  if (packet.size() < size) return std::nullopt;
  std::uint32_t tag = 0;
  get_raw(packet, 0, tag);
  const auto operation =
      static_cast<UdpHeader::Operation>(std::to_integer<std::uint8_t>(packet[kAtOperation]));
  if (tag != htonl(kTag) || packet[kAtVersion] != std::byte{is_6 ? kVersion6 : kVersion4} ||
      packet[kAtLength] != static_cast<std::byte>(size) ||
      (operation != UdpHeader::Operation::kData && operation != UdpHeader::Operation::kControl)) {
    return std::nullopt;
  }
  UdpHeader header{.operation = operation, .local = empty_name(family)};
  std::uint32_t queue_pair = 0;
  get_raw(packet, kAtQueuePair, queue_pair);
  header.queue_pair = ntohl(queue_pair) & kQueuePairs;
  if (is_6) {
    get_raw(packet, kAtAddress, in6(header.local).sin6_addr);
  } else {
    get_raw(packet, kAtAddress, in4(header.local).sin_addr);
  }
  return Headed<UdpHeader>{.header = header, .data = packet.subspan(size)};
}

std::vector<std::byte> put_source(const Name& source) {
  const bool is_6 = source.family() == AF_INET6;
  std::vector<std::byte> bytes(is_6 ? kSource6 : kSource4);
  bytes[0] = std::byte{is_6 ? kVersion6 : kVersion4};
  bytes[1] = static_cast<std::byte>(bytes.size());
  if (is_6) {
    put_raw(bytes, kAtPort, in6(source).sin6_port);
    put_raw(bytes, kAtFlow, in6(source).sin6_flowinfo);
    put_raw(bytes, kAtAddress6, in6(source).sin6_addr);
  } else {
    put_raw(bytes, kAtPort, in4(source).sin_port);
    put_raw(bytes, kAtAddress4, in4(source).sin_addr);
  }
  return bytes;
}

std::optional<Headed<Name>> get_source(std::span<const std::byte> message) {
  if (message.size() < kSource4) return std::nullopt;
  const bool is_6 = message[0] == std::byte{kVersion6};
  const std::size_t size = is_6 ? kSource6 : kSource4;
  if ((!is_6 && message[0] != std::byte{kVersion4}) || message.size() < size ||
      message[1] != static_cast<std::byte>(size)) {
    return std::nullopt;
  }
  Name source = empty_name(is_6 ? AF_INET6 : AF_INET);
  if (is_6) {
    get_raw(message, kAtPort, in6(source).sin6_port);
    get_raw(message, kAtFlow, in6(source).sin6_flowinfo);
    get_raw(message, kAtAddress6, in6(source).sin6_addr);
  } else {
    get_raw(message, kAtPort, in4(source).sin_port);
    get_raw(message, kAtAddress4, in4(source).sin_addr);
  }
  return Headed<Name>{.header = source, .data = message.subspan(size)};
}

}  // namespace anyrdma::rsocket
