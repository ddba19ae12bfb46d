// Management datagrams as packets: a UD SEND from QP1 to QP1 with the well-known queue key.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "verbs/soft/hca.h"
#include "verbs/soft/packet.h"
#include "verbs/wire/ids.h"

namespace anyrdma::verbs::soft {

/// IBTA vol 1, 13.5.3.
inline constexpr std::uint32_t kGsiQueueKey = 0x8001'0000;

/// Makes a fresh packet of a pool the one that carries that datagram.
void write_mad(Packet& packet, const MadAddress& to, wire::Psn psn,
               std::span<const std::uint8_t, kMadBytes> mad);

/// The datagram in a packet for QP1; nullopt: there is none.
[[nodiscard]] std::optional<std::span<const std::uint8_t, kMadBytes>> mad_in(const Packet& packet);

}  // namespace anyrdma::verbs::soft
