#include "cm/address.h"

#include <endian.h>
#include <infiniband/ib.h>
#include <netinet/in.h>

#include <cerrno>

namespace anyrdma::cm {

std::size_t length_of(const sockaddr& address) {
  switch (address.sa_family) {  // foreign enum
    case AF_INET:
      return sizeof(sockaddr_in);
    case AF_INET6:
      return sizeof(sockaddr_in6);
    case AF_IB:
      return sizeof(sockaddr_ib);
  }
  return 0;
}

Result<void> check_address(const sockaddr* address) {
  if (address == nullptr || length_of(*address) == 0) return verbs::errno_code(EINVAL);
  return {};
}

__be16 port_of(const sockaddr& address) {
  switch (address.sa_family) {  // foreign enum
    case AF_INET:
      return reinterpret_cast<const sockaddr_in&>(address).sin_port;
    case AF_INET6:
      return reinterpret_cast<const sockaddr_in6&>(address).sin6_port;
    case AF_IB: {
      const auto& infiniband = reinterpret_cast<const sockaddr_ib&>(address);
      return htobe16(static_cast<std::uint16_t>(be64toh(infiniband.sib_sid)));
    }
  }
  return 0;
}

}  // namespace anyrdma::cm
