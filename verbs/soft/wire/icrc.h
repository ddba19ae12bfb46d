// The invariant CRC of RoCEv2: everything that no router may change (IBTA annex A17.3.3).
#pragma once

#include <cstdint>

#include "verbs/soft/packet.h"

namespace anyrdma::roce {

/// Computes the ICRC over the packet's payload and the masked IP and UDP headers in front of it.
/// Precondition: at least a BTH and the ICRC's own four bytes.
[[nodiscard]] std::uint32_t icrc_of(const verbs::soft::Packet& packet);

/// Fills the last four bytes and marks the packet's ICRC as computed. Nothing if it already is.
void seal(verbs::soft::Packet& packet);

/// Whether the last four bytes are right. False for packets too short to have an ICRC.
[[nodiscard]] bool icrc_ok(const verbs::soft::Packet& packet);

}  // namespace anyrdma::roce
