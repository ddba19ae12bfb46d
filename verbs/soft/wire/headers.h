// All headers of one RoCEv2 payload as one value, parsed by the opcode table and written back by
// it.
#pragma once

#include <cstdint>
#include <span>

#include "verbs/soft/wire/bth.h"
#include "verbs/soft/wire/extended.h"
#include "verbs/soft/wire/opcode.h"

namespace anyrdma::roce {

inline constexpr std::size_t kIcrcBytes = 4;

/// Why a payload is no RoCE v2 packet.
enum class DecodeError : std::uint8_t {
  kNone,
  kTruncated,      ///< shorter than its headers, padding and ICRC
  kUnknownOpcode,  ///< reserved in the opcode table
  kBadVersion,     ///< header version other than 0
  kUnexpectedPayload,
};

/// The headers that the opcode names are valid, the others zero.
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

/// Reads a UDP payload from BTH to ICRC. Does not check the ICRC. Reserved bits are ignored.
[[nodiscard]] Decoded decode(std::span<const std::uint8_t> datagram);

/// Only the length, version and opcode checks of decode, and the BTH: what every packet needs.
struct Envelope {
  DecodeError error = DecodeError::kNone;
  Bth bth;
  std::span<const std::uint8_t> payload;
};
/// Fills `out` in its place: a reader of a copy would have to wait for every byte of it.
void open(std::span<const std::uint8_t> datagram, Envelope& out);
[[nodiscard]] inline Envelope open(std::span<const std::uint8_t> datagram) {
  Envelope out;
  open(datagram, out);
  return out;
}

/// Writes the BTH and the extended headers that its opcode names; `bytes` is exactly
/// kHeaderBytes[opcode] long.
void encode(const Headers& headers, std::span<std::uint8_t> bytes);

/// A view of one extended header of a datagram whose opcode carries it.
template <class T>
[[nodiscard]] std::span<const std::uint8_t, T::kBytes> view(std::span<const std::uint8_t> datagram,
                                                            std::uint8_t opcode, Header header) {
  return datagram.subspan(offset_of(opcode, header)).template first<T::kBytes>();
}

/// Writes one extended header into a datagram whose opcode carries it.
template <class T>
void put(std::span<std::uint8_t> datagram, std::uint8_t opcode, Header which, const T& header) {
  header.serialize(datagram.subspan(offset_of(opcode, which)).template first<T::kBytes>());
}

}  // namespace anyrdma::roce
