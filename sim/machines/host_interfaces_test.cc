#include "sim/machines/host_interfaces.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anyrdma::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string refusal(const std::vector<std::string>& words) {
  const auto parsed = parse_interfaces(words);
  return parsed ? "" : parsed.error().sentence;
}

TEST(HostInterfaces, PlainAddressesAreThoseOfOneInterface) {
  const auto all = parse_interfaces(std::vector<std::string>{"10.0.0.1/24", "fd00::1"}).value();

  ASSERT_EQ(all.size(), 1u);
  EXPECT_THAT(all[0].addresses, ElementsAre("10.0.0.1/24", "fd00::1"));
  EXPECT_FALSE(all[0].rdma);
  EXPECT_EQ(interface_name(all[0], 0), "eth0");
  EXPECT_EQ(rdma_name(all[0], 0), "anyrdma0");
}

TEST(HostInterfaces, ANameBeginsAnInterface) {
  const std::vector<std::string> words{"rail0=10.0.0.1/24", "10.0.0.9", "rail1=10.0.1.1/24"};
  const auto all = parse_interfaces(words).value();

  ASSERT_EQ(all.size(), 2u);
  EXPECT_THAT(all[0].addresses, ElementsAre("10.0.0.1/24", "10.0.0.9"));
  EXPECT_EQ(interface_name(all[1], 1), "rail1");
  EXPECT_EQ(rdma_name(all[1], 1), "anyrdma1");
}

TEST(HostInterfaces, ADeviceCanHaveAName) {
  const std::vector<std::string> words{"ib0/mlx5_0=10.0.0.1", "ib1/mlx5_3=10.0.1.1"};
  const auto all = parse_interfaces(words).value();

  EXPECT_EQ(interface_name(all[1], 1), "ib1");
  EXPECT_EQ(rdma_name(all[1], 1), "mlx5_3");
}

TEST(HostInterfaces, ADeviceCanHaveSeveralPorts) {
  const std::vector<std::string> words{"mlx5_0/1=10.0.0.1", "mlx5_0/2=10.0.1.1", "10.0.1.9",
                                       "ib2/mlx5_1=10.0.2.1", "ib3/mlx5_1/2=10.0.3.1"};
  const auto all = parse_interfaces(words).value();

  ASSERT_EQ(all.size(), 4u);
  EXPECT_EQ(interface_name(all[0], 0), "eth0");
  EXPECT_EQ(interface_name(all[1], 1), "eth1");
  EXPECT_EQ(interface_name(all[3], 3), "ib3");
  EXPECT_EQ(rdma_name(all[1], 1), "mlx5_0");
  EXPECT_EQ(rdma_name(all[3], 3), "mlx5_1");
  EXPECT_EQ(port_name(all[0], 0), "mlx5_0");
  EXPECT_EQ(port_name(all[1], 1), "mlx5_0/2");
  EXPECT_EQ(all[0].port, 1);
  EXPECT_EQ(all[1].port, 2);
  EXPECT_THAT(all[1].addresses, ElementsAre("10.0.1.1", "10.0.1.9"));
  EXPECT_EQ(all[2].port, 1);
  EXPECT_EQ(all[3].port, 2);
}

TEST(HostInterfaces, ThePortsOfADeviceFollowEachOther) {
  EXPECT_THAT(refusal({"mlx5_0/2=10.0.0.1"}), HasSubstr("port 2 of 'mlx5_0' does not follow"));
  EXPECT_THAT(refusal({"mlx5_0/1=10.0.0.1", "mlx5_0/3=10.0.1.1"}), HasSubstr("port 3 of"));
  EXPECT_THAT(refusal({"mlx5_0/1=10.0.0.1", "mlx5_1/2=10.0.1.1"}), HasSubstr("port 2 of"));
  EXPECT_THAT(refusal({"mlx5_0/1=10.0.0.1", "mlx5_0/1=10.0.1.1"}), HasSubstr("one number"));
  EXPECT_THAT(refusal({"mlx5_0/0=10.0.0.1"}), HasSubstr("'0' is no number of a port"));
  EXPECT_THAT(refusal({"mlx5_0/17=10.0.0.1"}), HasSubstr("from 1 to 16"));
  EXPECT_THAT(refusal({"r0/mlx5_0/x=10.0.0.1"}), HasSubstr("'x' is no number of a port"));
  EXPECT_THAT(refusal({"r0/mlx5_0/1/2=10.0.0.1"}), HasSubstr("'1/2' is no number of a port"));
}

TEST(HostInterfaces, NonsenseIsRefusedWithItsReason) {
  EXPECT_THAT(refusal({}), HasSubstr("no address"));
  EXPECT_THAT(refusal({"10.0.0"}), HasSubstr("'10.0.0' is no IP address"));
  EXPECT_THAT(refusal({"rail0="}), HasSubstr("'' is no IP address"));
  EXPECT_THAT(refusal({"=10.0.0.1"}), HasSubstr("'' is no name of an interface"));
  EXPECT_THAT(refusal({"lo=10.0.0.1"}), HasSubstr("not 'lo'"));
  EXPECT_THAT(refusal({"a-name-of-16-char=10.0.0.1"}), HasSubstr("at most 15"));
  EXPECT_THAT(refusal({"r0/=10.0.0.1"}), HasSubstr("'' is no name of an RDMA device"));
  EXPECT_THAT(refusal({"r0/rdma=10.0.0.1"}), HasSubstr("a number at the end"));
  EXPECT_THAT(refusal({"r0/../x0=10.0.0.1"}), HasSubstr("no name of an RDMA device"));
  EXPECT_THAT(refusal({"10.0.0.1", "r1=10.0.1.1"}), HasSubstr("before the first interface"));
}

TEST(HostInterfaces, NamesAreUnique) {
  EXPECT_THAT(refusal({"r0=10.0.0.1", "r0=10.0.1.1"}), HasSubstr("two interfaces 'r0'"));
  EXPECT_THAT(refusal({"r0/a1=10.0.0.1", "r1/b1=10.0.1.1"}), HasSubstr("end with one number"));
  EXPECT_THAT(refusal({"r0/mlx5_1=10.0.0.1", "r1=10.0.1.1"}), HasSubstr("end with one number"));
}

TEST(HostInterfaces, AHostHasAFewInterfaces) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < kInterfacesMax; ++i)
    words.push_back("r" + std::to_string(i) + "=10.0." + std::to_string(i) + ".1");
  EXPECT_EQ(refusal(words), "");
  words.emplace_back("more=10.1.0.1");

  EXPECT_THAT(refusal(words), HasSubstr("more than 16 interfaces"));
}

}  // namespace
}  // namespace anyrdma::sim
