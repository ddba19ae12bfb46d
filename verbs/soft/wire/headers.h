// All headers of one RoCEv2 payload in one struct. The opcode table (opcode.h) determines which of
// them are parsed and written.
#pragma once

#include <cstdint>
#include <span>

#include "verbs/soft/wire/bth.h"
#include "verbs/soft/wire/extended.h"
#include "verbs/soft/wire/opcode.h"

namespace anyrdma::roce {

inline constexpr std::size_t kIcrcBytes = 4;

/// The reason why a payload is not a RoCE v2 packet.
enum class DecodeError : std::uint8_t {
  kNone,
  kTruncated,      ///< shorter than its headers, padding and ICRC
  kUnknownOpcode,  ///< an opcode that the opcode table does not define
  kBadVersion,     ///< header version other than 0
  kUnexpectedPayload,
};

/// All headers of a packet. Headers that the packet's opcode does not have are zero.
struct Headers {
  Bth bth;
  Deth deth;
  Reth reth;
  AtomicEth atomic;
  Aeth aeth;
  AtomicAckEth atomic_ack;
  ImmDt immediate;
  Ieth invalidate;
  std::uint32_t xrc_srq = 0;
};

struct Decoded {
  DecodeError error = DecodeError::kNone;
  Headers headers;
  std::span<const std::uint8_t> payload;  ///< without padding and ICRC
};

/// Parses a UDP payload from BTH to ICRC. The ICRC is not checked, and reserved bits are ignored.
[[nodiscard]] Decoded decode(std::span<const std::uint8_t> datagram);

/// The headers that every packet needs: the BTH, and the results of checking length, version and
/// opcode.
struct Envelope {
  DecodeError error = DecodeError::kNone;
  Bth bth;
  std::span<const std::uint8_t> payload;
};
/// Checks a datagram and fills `out`. `out` is passed by reference because returning a copy is
/// slower.
void open(std::span<const std::uint8_t> datagram, Envelope& out);
[[nodiscard]] inline Envelope open(std::span<const std::uint8_t> datagram) {
  Envelope out;
  open(datagram, out);
  return out;
}

/// Writes the BTH and the extended headers of its opcode to `bytes`, which must be exactly
/// kHeaderBytes[opcode] long.
void encode(const Headers& headers, std::span<std::uint8_t> bytes);

/// Reads one extended header of a datagram. Precondition: the datagram's opcode has this header.
template <class T>
[[nodiscard]] std::span<const std::uint8_t, T::kBytes> view(std::span<const std::uint8_t> datagram,
                                                            std::uint8_t opcode, Header header) {
  return datagram.subspan(offset_of(opcode, header)).template first<T::kBytes>();
}

/// Writes one extended header into a datagram. Precondition: the datagram's opcode has this header.
template <class T>
void put(std::span<std::uint8_t> datagram, std::uint8_t opcode, Header which, const T& header) {
  header.serialize(datagram.subspan(offset_of(opcode, which)).template first<T::kBytes>());
}

}  // namespace anyrdma::roce
