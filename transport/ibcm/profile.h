// The constants of the CM protocol that differ between Linux versions, as data.
#pragma once

#include <cstdint>
#include <string_view>

#include "verbs/time.h"

namespace anyrdma::ibcm {

/// IBTA time exponents: 4.096 us * 2^t, which Linux rounds to 2^(t-8) ms (cm_convert_to_ms).
struct Profile {
  std::string_view name = "linux-6.1";
  std::uint8_t packet_lifetime = 18;      ///< CMA_IBOE_PACKET_LIFETIME; 16 in newer kernels
  std::uint8_t cm_response_timeout = 20;  ///< CMA_CM_RESPONSE_TIMEOUT
  std::uint8_t retries_max = 15;          ///< CMA_MAX_CM_RETRIES: 16 transmissions
  std::uint8_t mra_service_timeout = 24;  ///< CM_MRA_SETTING
  /// Length of a jiffy, from which the timer wheel's rounding follows; 0: timers are exact.
  /// Debian's kernels run at 250 Hz.
  verbs::Duration timer_tick = std::chrono::milliseconds(4);
  /// The position on the timer wheel where the first wait of a timer starts, in 1/256 of a turn of
  /// its level. It is random on a real machine; 56 gives the measured 102.2 s.
  std::uint8_t timer_phase = 56;
};

inline constexpr Profile kLinux61{};
/// The profile of Linux 6.17, taken from its source. This kernel was not measured, so its timers
/// are exact.
inline constexpr Profile kLinux617{
    .name = "linux-6.17", .packet_lifetime = 16, .timer_tick = verbs::Duration::zero()};

/// Linux's conversion of a time exponent to real time: 2^max(t-8, 0) ms.
[[nodiscard]] constexpr verbs::Duration from_exponent(std::uint8_t t) {
  return std::chrono::milliseconds(std::int64_t{1} << (t > 8 ? t - 8 : 0));
}

/// The moment when a wait starts: at any time, or in the expiry of a timer of the same length.
enum class WaitStart { kAnyTime, kOnExpiry };

/// The granularity of Linux's timer wheel for a wait: 64 slots a level, the next level eight times
/// as coarse, a level taken from 63 slots of it on (kernel/time/timer.c, LVL_START).
[[nodiscard]] constexpr verbs::Duration timer_granularity(const Profile& profile,
                                                          verbs::Duration wait) {
  constexpr int kSlots = 63;
  constexpr int kCoarser = 8;
  verbs::Duration granularity = profile.timer_tick;
  if (granularity == verbs::Duration::zero()) return granularity;
  while (wait >= granularity * kSlots) granularity *= kCoarser;
  return granularity;
}

/// The real duration of a timer set to `wait`. The wheel fires at the first multiple of its
/// granularity after the requested time. A timer that is set by an expiry starts on such a multiple
/// and waits for the next but one. So 6144 ms take 6400 ms, except for the first time: 16 REQs in
/// 102.2 s.
[[nodiscard]] constexpr verbs::Duration timer_wait(const Profile& profile, verbs::Duration wait,
                                                   WaitStart start) {
  constexpr int kTurn = 256;
  const verbs::Duration granularity = timer_granularity(profile, wait);
  if (start == WaitStart::kOnExpiry) return wait + granularity;
  return wait + granularity * profile.timer_phase / kTurn;
}

/// The local ACK timeout that covers two packet lifetimes and the CA's delay (cm_ack_timeout).
[[nodiscard]] constexpr std::uint8_t ack_timeout(std::uint8_t ca_ack_delay,
                                                 std::uint8_t packet_lifetime) {
  constexpr int kMax = 31;
  const int twice = packet_lifetime + 1;
  const int sum = twice >= ca_ack_delay ? twice + (ca_ack_delay >= twice - 1)
                                        : ca_ack_delay + (twice >= ca_ack_delay - 1);
  return static_cast<std::uint8_t>(sum < kMax ? sum : kMax);
}

}  // namespace anyrdma::ibcm
