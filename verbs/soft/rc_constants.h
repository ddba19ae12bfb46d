// Constants of the reliable connection service for requester and responder.
#pragma once

#include <array>
#include <cstdint>

#include "verbs/time.h"

namespace anyrdma::verbs::soft {

/// The largest number of packets that a requester may have sent without an acknowledgement (rxe:
/// 128).
inline constexpr std::int32_t kWindowPackets = 128;
/// The number of packets after which a requester asks for an acknowledgement (rxe: 64). At the end
/// of a message it always asks for one.
inline constexpr std::uint32_t kPacketsPerAckRequest = 64;
/// The shortest payload that a packet may borrow from its sender's memory (packet.h). Copying a
/// shorter one costs less.
inline constexpr std::uint32_t kLentBytesMin = 1024;
/// Value of rnr_retry that means "for ever".
inline constexpr std::uint8_t kRnrRetryForEver = 7;
/// Longest message (IBTA vol 1, 9.4.1).
inline constexpr std::uint32_t kMessageBytesMax = 0x8000'0000;

/// The RNR NAK timer field (IBTA vol 1, table 45).
inline constexpr std::array<std::int64_t, 32> kRnrMicroseconds{
    655'360, 10,     20,     30,     40,     60,      80,      120,     160,     240,    320,
    480,     640,    960,    1280,   1920,   2560,    3840,    5120,    7680,    10'240, 15'360,
    20'480,  30'720, 40'960, 61'440, 81'920, 122'880, 163'840, 245'760, 327'680, 491'520};
[[nodiscard]] constexpr Duration rnr_delay(std::uint8_t field) {
  return std::chrono::microseconds(kRnrMicroseconds[field & 31]);
}

/// Returns the local ACK timeout of a QP: 4.096 us * 2^t (IBTA vol 1, 9.7.6.1.3). t = 0 means no
/// timeout.
[[nodiscard]] constexpr Duration ack_timeout(std::uint8_t t) {
  return Duration(4096) * (1LL << t);
}

}  // namespace anyrdma::verbs::soft
