// An address of a socket.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

namespace anyrdma::rsocket {

/// An address of a peer or of this host, as the socket calls have it.
struct Name {
  sockaddr_storage storage{};
  socklen_t length = 0;
  [[nodiscard]] const sockaddr* raw() const { return reinterpret_cast<const sockaddr*>(&storage); }
  [[nodiscard]] sockaddr* raw() { return reinterpret_cast<sockaddr*>(&storage); }
  [[nodiscard]] int family() const { return storage.ss_family; }
};

/// Length of an address of AF_INET or AF_INET6.
[[nodiscard]] constexpr socklen_t length_of(int family) {
  return family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

/// `address` is of AF_INET or AF_INET6.
[[nodiscard]] inline Name name_of(const sockaddr& address) {
  Name name;
  name.length = length_of(address.sa_family);
  std::memcpy(&name.storage, &address, name.length);
  return name;
}

}  // namespace anyrdma::rsocket
