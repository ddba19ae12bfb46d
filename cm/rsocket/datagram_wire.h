// The headers of datagrams: of those that travel in UDP until both sides know their queue pairs,
// and of those between queue pairs. No I/O.
#pragma once

#include <netinet/in.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "cm/rsocket/name.h"

namespace anyrdma::rsocket {

/// The header in front of a datagram in UDP. The sender's address and port are those of the UDP
/// packet.
struct UdpHeader {
  enum class Operation : std::uint8_t {
    kData = 0,     ///< the program's datagram follows; the receiver answers with kControl
    kControl = 7,  ///< only says which queue pair the sender has
  };
  Operation operation = Operation::kData;
  std::uint32_t queue_pair = 0;  ///< number of the sender's queue pair
  Name local;                    ///< address of the sender's queue pair; the port has no meaning
};

/// The bytes of a header: 16 for IPv4, 28 for IPv6.
[[nodiscard]] std::vector<std::byte> put_udp_header(const UdpHeader& header);

/// A header, and the bytes that follow it.
template <class Header>
struct Headed {
  Header header;
  std::span<const std::byte> data;
};

/// Nothing: the packet does not begin with a header, or with one of another family than `family`.
[[nodiscard]] std::optional<Headed<UdpHeader>> get_udp_header(std::span<const std::byte> packet,
                                                              int family);

/// The header between queue pairs: the address and UDP port of the sender. 8 bytes for IPv4, 24 for
/// IPv6.
[[nodiscard]] std::vector<std::byte> put_source(const Name& source);
/// Nothing: the message does not begin with such a header.
[[nodiscard]] std::optional<Headed<Name>> get_source(std::span<const std::byte> message);

}  // namespace anyrdma::rsocket
