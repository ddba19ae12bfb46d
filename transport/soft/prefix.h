// An IP address with the length of its network's prefix.
#pragma once

#include <string>
#include <string_view>

#include "transport/soft/address.h"
#include "verbs/result.h"

namespace anyrdma::transport::soft {

/// An address with the prefix length of its network: "192.0.2.1/24". Without a length, IPv4 means
/// /24 and IPv6 /64.
struct Prefix {
  Address address{};
  unsigned bits = 0;  ///< length of the prefix, counted in the 16 bytes of `address.ip`

  bool operator==(const Prefix&) const = default;

  /// Parses the text of a prefix. EINVAL: the text is no IPv4 or IPv6 address, or the length is too
  /// large.
  [[nodiscard]] static verbs::Result<Prefix> parse(std::string_view text);
  [[nodiscard]] bool contains(const Address& other) const;
  /// Returns the text that parse() reads. The scope of a link-local address is left out.
  [[nodiscard]] std::string to_string() const;
};

}  // namespace anyrdma::transport::soft
