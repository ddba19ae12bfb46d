#include "tests/conformance/place.h"

#include <arpa/inet.h>

#include <array>

#include "tests/conformance/require.h"

namespace anyrdma::conformance {

std::string_view to_string(Role role) {
  constexpr std::array<std::string_view, static_cast<std::size_t>(kLastRole) + 1> kNames = {
      "server", "other",  "client",  "any",     "any6",  "loopback", "nobody",
      "deaf",   "moving", "nowhere", "foreign", "group", "group6"};
  return kNames[static_cast<std::size_t>(role)];
}

Address::Address(const std::string& ip, std::uint16_t port) {
  auto* const four = reinterpret_cast<sockaddr_in*>(&storage_);
  auto* const six = reinterpret_cast<sockaddr_in6*>(&storage_);
  if (inet_pton(AF_INET, ip.c_str(), &four->sin_addr) == 1) {
    four->sin_family = AF_INET;
    four->sin_port = htons(port);
    return;
  }
  require(inet_pton(AF_INET6, ip.c_str(), &six->sin6_addr) == 1, "not an address");
  six->sin6_family = AF_INET6;
  six->sin6_port = htons(port);
}

std::string ip_of(const sockaddr& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address.sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in&>(address).sin_addr;
  } else if (address.sa_family == AF_INET6) {
    bytes = &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  } else {
    return {};
  }
  return inet_ntop(address.sa_family, bytes, text.data(), text.size());
}

std::uint16_t port_of(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    return ntohs(reinterpret_cast<const sockaddr_in&>(address).sin_port);
  }
  if (address.sa_family == AF_INET6) {
    return ntohs(reinterpret_cast<const sockaddr_in6&>(address).sin6_port);
  }
  return 0;
}

}  // namespace anyrdma::conformance
