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
};

inline constexpr Profile kLinux61{};
inline constexpr Profile kLinux617{.name = "linux-6.17", .packet_lifetime = 16};

/// Linux's conversion of a time exponent to real time: 2^max(t-8, 0) ms.
[[nodiscard]] constexpr verbs::Duration from_exponent(std::uint8_t t) {
  return std::chrono::milliseconds(std::int64_t{1} << (t > 8 ? t - 8 : 0));
}

}  // namespace anyrdma::ibcm
