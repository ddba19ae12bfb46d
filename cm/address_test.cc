#include "cm/address.h"

#include <gtest/gtest.h>
#include <infiniband/ib.h>
#include <netinet/in.h>

#include <cerrno>

#include "verbs/testing/errno_of.h"

namespace anyrdma::cm {
namespace {

using verbs::testing::errno_of;

template <class Address>
const sockaddr& plain(const Address& address) {
  return reinterpret_cast<const sockaddr&>(address);
}

TEST(Address, OfIpv4HasItsLengthAndPort) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(7471);

  EXPECT_EQ(length_of(plain(address)), sizeof address);
  EXPECT_EQ(port_of(plain(address)), htons(7471));
}

TEST(Address, OfIpv6HasItsLengthAndPort) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(7471);

  EXPECT_EQ(length_of(plain(address)), sizeof address);
  EXPECT_EQ(port_of(plain(address)), htons(7471));
}

TEST(Address, OfInfinibandHasThePortInItsServiceId) {
  sockaddr_ib address{};
  address.sib_family = AF_IB;
  address.sib_sid = htobe64((std::uint64_t{RDMA_PS_TCP} << 16) + 7471);

  EXPECT_EQ(length_of(plain(address)), sizeof address);
  EXPECT_EQ(port_of(plain(address)), htons(7471));
}

TEST(Address, OfAnotherFamilyIsRefused) {
  sockaddr address{};
  address.sa_family = AF_UNIX;

  EXPECT_EQ(length_of(address), 0u);
  EXPECT_EQ(port_of(address), 0);
  EXPECT_EQ(errno_of(check_address(&address)), EINVAL);
  EXPECT_EQ(errno_of(check_address(nullptr)), EINVAL);
}

}  // namespace
}  // namespace anyrdma::cm
