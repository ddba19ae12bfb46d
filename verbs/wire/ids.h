// Types for identifiers in packets. Each kind of identifier is a type of its own.
#pragma once

#include <compare>
#include <cstdint>

namespace anyrdma::wire {

/// A queue pair number (QPN), 24 bits. The QPN 1 is the general service interface (QP1), and the
/// largest QPN means the members of a multicast group.
enum class Qpn : std::uint32_t {};
inline constexpr Qpn kGsiQpn{1};
inline constexpr Qpn kMulticastQpn{0xffffff};
[[nodiscard]] constexpr std::uint32_t value(Qpn qpn) {
  return static_cast<std::uint32_t>(qpn);
}

/// Communication id of the CM protocol, 32 bits. 0 means "none".
enum class CommId : std::uint32_t {};
[[nodiscard]] constexpr std::uint32_t value(CommId id) {
  return static_cast<std::uint32_t>(id);
}

/// A service id of the CM protocol, 64 bits. For the port space and port of an rdma_cm_id with IP
/// addresses, the id is (port space << 16) + port.
enum class ServiceId : std::uint64_t {};
[[nodiscard]] constexpr std::uint64_t value(ServiceId id) {
  return static_cast<std::uint64_t>(id);
}

/// EUI-64 of a channel adapter, host order.
enum class Guid : std::uint64_t {};
[[nodiscard]] constexpr std::uint64_t value(Guid guid) {
  return static_cast<std::uint64_t>(guid);
}

/// A packet sequence number (PSN): 24 bits, compared modulo 2^24 (IBTA vol 1, 9.7.1).
class Psn {
 public:
  constexpr Psn() = default;
  constexpr explicit Psn(std::uint32_t number) : number_(number & kMask) {}
  [[nodiscard]] constexpr std::uint32_t value() const { return number_; }
  [[nodiscard]] constexpr Psn operator+(std::uint32_t n) const { return Psn(number_ + n); }
  /// Returns how far this PSN is ahead of `other`, in [-2^23, 2^23).
  [[nodiscard]] constexpr std::int32_t distance_from(Psn other) const {
    const std::uint32_t d = (number_ - other.number_) & kMask;
    return d < kHalf ? static_cast<std::int32_t>(d)
                     : static_cast<std::int32_t>(d) - static_cast<std::int32_t>(kMask + 1);
  }
  [[nodiscard]] constexpr bool before(Psn other) const { return distance_from(other) < 0; }
  constexpr bool operator==(const Psn&) const = default;

 private:
  static constexpr std::uint32_t kMask = 0xffffff;
  static constexpr std::uint32_t kHalf = 0x800000;
  std::uint32_t number_ = 0;
};

}  // namespace anyrdma::wire
