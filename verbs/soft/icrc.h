// The invariant CRC (ICRC) of RoCEv2. It covers all bytes that no router may change (IBTA annex
// A17.3.3).
#pragma once

#include <cstdint>
#include <optional>

#include "verbs/soft/packet.h"

namespace anyrdma::roce {

/// Computes the ICRC over a packet's payload and the masked IP and UDP headers in front of it.
/// Precondition: the payload contains at least a BTH and the ICRC's own four bytes.
[[nodiscard]] std::uint32_t icrc_of(const verbs::soft::Packet& packet);

/// Computes the ICRC, writes it to the last four payload bytes, and marks it as computed. No effect
/// if the ICRC is computed already.
void seal(verbs::soft::Packet& packet);

/// The fields of an IPv4 header that the ICRC covers and that a UDP socket does not show.
struct HiddenFields {
  std::uint16_t identification = 0;
  std::uint16_t fragment = 0;  ///< "don't fragment" (0x4000) or nothing
};
/// Finds the hidden fields of a packet with which its ICRC is right. nullopt: there are none, or
/// the packet is too short for an ICRC. A damaged packet seems right with a probability of 2^-15,
/// since most bits of the ICRC are used to find the fields. IPv6 has no hidden fields: a value then
/// only says that the ICRC is right.
[[nodiscard]] std::optional<HiddenFields> hidden_fields_of(const verbs::soft::Packet& packet);

/// Whether the ICRC of a packet is right or, if IP fields are hidden, can be right. False for
/// packets that are too short for an ICRC.
[[nodiscard]] bool icrc_ok(const verbs::soft::Packet& packet);

}  // namespace anyrdma::roce
