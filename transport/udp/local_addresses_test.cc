// The machine's addresses; every machine has loopback ones.
#include "transport/udp/local_addresses.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "transport/udp/config.h"
#include "transport/udp/error.h"

namespace anyrdma::transport::udp {
namespace {

using Names = std::vector<std::string>;
using Devices = std::vector<Names>;

TEST(LocalAddresses, AreThoseNamedInThatOrder) {
  const auto found = local_addresses(Names{"127.1.2.3", "127.0.0.1"}).value();

  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].address, soft::Address::ipv4(0x7f010203));
  EXPECT_EQ(found[1].address, soft::Address::ipv4(0x7f000001));
  EXPECT_GT(found[0].interface, 0);
  EXPECT_GT(found[0].mtu, 1280u);
  EXPECT_FALSE(found[0].neighbours);
}

TEST(LocalAddresses, WithoutNamesAreNeitherLoopbackNorLinkLocal) {
  const auto found = local_addresses(Names{});
  if (!found) {
    EXPECT_EQ(found.error(), make_error_code(UdpErrc::kNoAddress));
    return;
  }
  bool six = false;
  for (const LocalAddress& each : *found) {
    EXPECT_FALSE(each.address.is_loopback());
    EXPECT_FALSE(each.address.is_link_local());
    six |= each.address.family == AF_INET6;
    EXPECT_EQ(each.address.family == AF_INET6, six) << "IPv4 comes first";
  }
}

TEST(LocalAddresses, OneBadNameSpoilsThemAll) {
  EXPECT_EQ(local_addresses(Names{"127.0.0.1", "nonsense"}).error(),
            make_error_code(UdpErrc::kBadAddress));
  EXPECT_EQ(local_addresses(Names{"127.0.0.1", "198.51.100.77"}).error(),
            make_error_code(UdpErrc::kNotLocal));
}

TEST(LocalAddresses, OfOneInterfaceBelongToOneDevice) {
  for (const LocalAddress& each : local_addresses(Names{"127.0.0.1", "127.0.0.2"}).value())
    EXPECT_EQ(each.device, 0u);
}

TEST(LocalAddresses, OfDevicesBelongWhereTheyAreNamed) {
  const auto found = local_addresses(Devices{{"127.0.0.1"}, {"127.0.0.2", "127.0.0.3"}}).value();

  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].device, 0u);
  EXPECT_EQ(found[1].device, 1u);
  EXPECT_EQ(found[2].device, 1u);
}

TEST(LocalAddresses, OfDevicesAreRefusedWhereTheyMakeNoSense) {
  for (const Devices& bad : {Devices{{"127.0.0.1"}, {}}, Devices{{"127.0.0.1"}, {"127.0.0.1"}},
                             Devices{{"127.0.0.1"}, {"nonsense"}}}) {
    EXPECT_EQ(local_addresses(bad).error(), make_error_code(UdpErrc::kBadAddress));
  }
  EXPECT_EQ(local_addresses(Devices(kDevicesMax + 1, {"127.0.0.1"})).error(),
            make_error_code(UdpErrc::kTooManyDevices));
}

TEST(LocalAddresses, NoMoreThanAGidTableHolds) {
  const Names many(40, "127.0.0.1");
  EXPECT_EQ(local_addresses(many).value().size(), kLocalAddressesMax);
}

// Ethernet's as rxe has it; the others leave room for the longest headers.
TEST(PathMtu, IsTheLargestThatFitsTheInterface) {
  EXPECT_EQ(path_mtu_for(1500), IBV_MTU_1024);
  EXPECT_EQ(path_mtu_for(9000), IBV_MTU_4096);
  EXPECT_EQ(path_mtu_for(65536), IBV_MTU_4096);
  EXPECT_EQ(path_mtu_for(4096), IBV_MTU_2048);
  EXPECT_EQ(path_mtu_for(1024), IBV_MTU_512);
  EXPECT_EQ(path_mtu_for(576), IBV_MTU_256);
  EXPECT_EQ(path_mtu_for(68), IBV_MTU_256);
}

}  // namespace
}  // namespace anyrdma::transport::udp
