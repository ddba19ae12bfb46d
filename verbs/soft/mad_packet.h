// Converts management datagrams (MADs) to packets and back: UD SENDs from QP1 to QP1 with the
// well-known queue key.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "verbs/soft/hca.h"
#include "verbs/soft/packet.h"
#include "verbs/wire/ids.h"

namespace anyrdma::verbs::soft {

/// The queue key (QKey) of QP1 (IBTA vol 1, 13.5.3).
inline constexpr std::uint32_t kGsiQueueKey = 0x8001'0000;

/// Writes a management datagram into a new packet of the pool.
void write_mad(Packet& packet, const MadAddress& to, wire::Psn psn,
               std::span<const std::uint8_t, kMadBytes> mad);

/// Returns the management datagram (MAD) in a packet for QP1; nullopt: the packet contains no MAD.
[[nodiscard]] std::optional<std::span<const std::uint8_t, kMadBytes>> mad_in(const Packet& packet);

}  // namespace anyrdma::verbs::soft
