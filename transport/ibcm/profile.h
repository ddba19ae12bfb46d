// The constants of the CM protocol that differ between versions of Linux.
#pragma once

#include <cstdint>
#include <string_view>

#include "verbs/time.h"

namespace anyrdma::ibcm {

/// Constants of one version of Linux. A time exponent t means 4.096 us * 2^t, which Linux rounds to
/// 2^(t-8) ms (cm_convert_to_ms).
struct Profile {
  std::string_view name = "linux-6.1";
  std::uint8_t packet_lifetime = 18;      ///< CMA_IBOE_PACKET_LIFETIME; 16 in newer kernels
  std::uint8_t cm_response_timeout = 20;  ///< CMA_CM_RESPONSE_TIMEOUT

  /// CMA_MAX_CM_RETRIES: a message is sent at most 16 times.
  std::uint8_t retries_max = 15;
  std::uint8_t mra_service_timeout = 24;  ///< CM_MRA_SETTING

  /// The length of a jiffy, from which the rounding of timers follows; 0: timers are exact.
  /// Debian's kernels run at 250 Hz.
  verbs::Duration timer_tick = std::chrono::milliseconds(4);
  /// The position on Linux's timer wheel at which the first wait of a timer begins, in 1/256 of a
  /// turn of its level. On a real machine it is random. With 56, 16 REQs take 102.2 s, as measured.
  std::uint8_t timer_phase = 56;
};

inline constexpr Profile kLinux61{};
/// The constants of Linux 6.17, taken from its source. The timers of this kernel were not measured,
/// so they are exact here.
inline constexpr Profile kLinux617{
    .name = "linux-6.17", .packet_lifetime = 16, .timer_tick = verbs::Duration::zero()};

/// Returns the time that Linux uses for a time exponent t: 2^max(t-8, 0) ms.
[[nodiscard]] constexpr verbs::Duration from_exponent(std::uint8_t t) {
  return std::chrono::milliseconds(std::int64_t{1} << (t > 8 ? t - 8 : 0));
}

/// When a wait begins: at any time, or when a timer of the same length expires.
enum class WaitStart { kAnyTime, kOnExpiry };

/// Returns the granularity with which Linux's timer wheel rounds a wait. A level has 64 slots, and
/// the next level is eight times as coarse. Waits of 63 slots of a level or more use the next level
/// (kernel/time/timer.c, LVL_START).
[[nodiscard]] constexpr verbs::Duration timer_granularity(const Profile& profile,
                                                          verbs::Duration wait) {
  constexpr int kSlots = 63;
  constexpr int kCoarser = 8;
  verbs::Duration granularity = profile.timer_tick;
  if (granularity == verbs::Duration::zero()) return granularity;
  while (wait >= granularity * kSlots) granularity *= kCoarser;
  return granularity;
}

/// Returns how long a timer that is set to `wait` really takes. Linux's timer wheel fires at the
/// first multiple of its granularity after the requested time. A timer that is set when another one
/// expires begins on such a multiple, and fires at the next but one. So 6144 ms take 6400 ms,
/// except the first time, and 16 REQs take 102.2 s.
[[nodiscard]] constexpr verbs::Duration timer_wait(const Profile& profile, verbs::Duration wait,
                                                   WaitStart start) {
  constexpr int kTurn = 256;
  const verbs::Duration granularity = timer_granularity(profile, wait);
  if (start == WaitStart::kOnExpiry) return wait + granularity;
  return wait + granularity * profile.timer_phase / kTurn;
}

/// Returns the exponent of the local ACK timeout that covers two packet lifetimes and the CA's ACK
/// delay (cm_ack_timeout).
[[nodiscard]] constexpr std::uint8_t ack_timeout(std::uint8_t ca_ack_delay,
                                                 std::uint8_t packet_lifetime) {
  constexpr int kMax = 31;
  const int twice = packet_lifetime + 1;
  const int sum = twice >= ca_ack_delay ? twice + (ca_ack_delay >= twice - 1)
                                        : ca_ack_delay + (twice >= ca_ack_delay - 1);
  return static_cast<std::uint8_t>(sum < kMax ? sum : kMax);
}

}  // namespace anyrdma::ibcm
