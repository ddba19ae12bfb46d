// The invariant CRC of RoCEv2: everything that no router may change (IBTA annex A17.3.3).
#pragma once

#include <cstdint>
#include <optional>

#include "verbs/soft/packet.h"

namespace anyrdma::roce {

/// Computes the ICRC over the packet's payload and the masked IP and UDP headers in front of it.
/// Precondition: at least a BTH and the ICRC's own four bytes.
[[nodiscard]] std::uint32_t icrc_of(const verbs::soft::Packet& packet);

/// Fills the last four bytes and marks the packet's ICRC as computed. Nothing if it already is.
void seal(verbs::soft::Packet& packet);

/// The fields of an IPv4 header that the ICRC covers and a UDP socket does not show.
struct HiddenFields {
  std::uint16_t identification = 0;
  std::uint16_t fragment = 0;  ///< "don't fragment" (0x4000) or nothing
};
/// The only ones, if any, with which the last four bytes are right. A damaged packet seems right
/// with a probability of 2^-15: the ICRC's other bits go into finding them. Always found for IPv6,
/// which has none, if the ICRC is right. nullopt for packets too short to have an ICRC.
[[nodiscard]] std::optional<HiddenFields> hidden_fields_of(const verbs::soft::Packet& packet);

/// Whether the last four bytes are right, with hidden fields: can be. False for packets too short
/// to have an ICRC.
[[nodiscard]] bool icrc_ok(const verbs::soft::Packet& packet);

}  // namespace anyrdma::roce
