// An IP address with the length of its network's prefix.
#pragma once

#include <string>
#include <string_view>

#include "transport/soft/address.h"
#include "verbs/result.h"

namespace anyrdma::transport::soft {

/// "192.0.2.1/24". Without a length, IPv4 means /24 and IPv6 /64.
struct Prefix {
  Address address{};
  unsigned bits = 0;  ///< of the 16 bytes of `address.ip`

  bool operator==(const Prefix&) const = default;

  /// EINVAL: neither an IPv4 nor an IPv6 address, or a length that is too large.
  [[nodiscard]] static verbs::Result<Prefix> parse(std::string_view text);
  [[nodiscard]] bool contains(const Address& other) const;
  /// Returns the text that parse() reads. A link-local address's scope is left out.
  [[nodiscard]] std::string to_string() const;
};

}  // namespace anyrdma::transport::soft
