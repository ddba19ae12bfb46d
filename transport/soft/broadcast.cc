#include "transport/soft/broadcast.h"

#include <sys/socket.h>

namespace anyrdma::transport::soft {
namespace {

constexpr unsigned kBits = 128;
constexpr unsigned kVersion4 = 96;  ///< where an IPv4 address begins

bool is_all_ones_from(const Address& address, unsigned first) {
  for (unsigned bit = first; bit < kBits; ++bit)
    if ((address.ip[bit / 8] >> (7 - bit % 8) & 1) == 0) return false;
  return true;
}

}  // namespace

bool is_limited_broadcast(const Address& address) {
  return address.family == AF_INET && is_all_ones_from(address, kVersion4);
}

bool is_broadcast(const Prefix& prefix, const Address& address) {
  constexpr unsigned kLongest = kBits - 2;
  return address.family == AF_INET && prefix.address.family == AF_INET && prefix.bits <= kLongest &&
         !prefix.address.is_loopback() && prefix.contains(address) &&
         is_all_ones_from(address, prefix.bits);
}

}  // namespace anyrdma::transport::soft
