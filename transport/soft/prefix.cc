#include "transport/soft/prefix.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>

#include "base/number.h"

namespace anyrdma::transport::soft {
namespace {

constexpr unsigned kAddressBits = 128;
constexpr unsigned kMappedBits = 96;  // in front of an IPv4 address
constexpr unsigned kDefaultIpv4 = 24;
constexpr unsigned kDefaultIpv6 = 64;

verbs::Result<Address> parse_ip(const std::string& text) {
  in_addr ipv4{};
  if (inet_pton(AF_INET, text.c_str(), &ipv4) == 1) return Address::ipv4(ntohl(ipv4.s_addr));
  ibv_gid ipv6{};
  if (inet_pton(AF_INET6, text.c_str(), ipv6.raw) != 1) return verbs::errno_code(EINVAL);
  return Address::from_gid(ipv6);
}

}  // namespace

verbs::Result<Prefix> Prefix::parse(std::string_view text) {
  const std::size_t slash = text.find('/');
  const verbs::Result<Address> address = parse_ip(std::string(text.substr(0, slash)));
  if (!address) return address.error();
  const bool ipv4 = address->family == AF_INET;
  const unsigned before = ipv4 ? kMappedBits : 0;
  unsigned length = ipv4 ? kDefaultIpv4 : kDefaultIpv6;
  if (slash != std::string_view::npos) {
    const auto parsed = whole_number<unsigned>(text.substr(slash + 1));
    if (!parsed) return verbs::errno_code(EINVAL);
    length = *parsed;
  }
  if (length > kAddressBits - before) return verbs::errno_code(EINVAL);
  return Prefix{*address, before + length};
}

bool Prefix::contains(const Address& other) const {
  if (address.family != other.family) return false;
  if (address.is_link_local() && address.scope != other.scope) return false;
  const std::size_t whole = bits / 8;
  if (!std::equal(other.ip.begin(), other.ip.begin() + static_cast<std::ptrdiff_t>(whole),
                  address.ip.begin())) {
    return false;
  }
  const unsigned rest = bits % 8;
  return rest == 0 || (address.ip[whole] ^ other.ip[whole]) >> (8 - rest) == 0;
}

std::string Prefix::to_string() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const bool ipv4 = address.family == AF_INET;
  const std::uint8_t* const ip = address.ip.data() + (ipv4 ? kMappedBits / 8 : 0);
  inet_ntop(address.family, ip, text.data(), text.size());
  return std::string(text.data()) + "/" + std::to_string(bits - (ipv4 ? kMappedBits : 0));
}

}  // namespace anyrdma::transport::soft
