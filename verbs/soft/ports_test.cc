// Devices with several ports, and LIDs.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstdint>

#include "verbs/soft/lid_list.h"
#include "verbs/soft/testing/two_ports.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::ipv4_gid;
using testing::Side;
using testing::TwoPorts;

class Ports : public TwoPorts {};

class LidPorts : public TwoPorts {
 protected:
  LidPorts() : TwoPorts({.ports = 2, .link_layer = IBV_LINK_LAYER_INFINIBAND}) {}
  static ibv_ah_attr to_lid(std::uint16_t lid, std::uint8_t port) {
    ibv_ah_attr address{};
    address.dlid = lid;
    address.port_num = port;
    return address;
  }
  [[nodiscard]] std::uint16_t lid(Side& side, std::uint8_t port) {
    ibv_port_attr attr{};
    side.hca->query_port(side.context, port, &attr).value();
    return attr.lid;
  }
};

TEST_F(Ports, TheDeviceHasAsManyAsItsConfigurationSays) {
  ibv_device_attr device{};
  a_.hca->query_device(a_.context, &device).value();
  EXPECT_EQ(device.phys_port_cnt, 2);
  ibv_port_attr port{};
  EXPECT_TRUE(a_.hca->query_port(a_.context, 2, &port).has_value());
  for (const std::uint8_t wrong : std::to_array<std::uint8_t>({0, 3, 255})) {
    EXPECT_EQ(a_.hca->query_port(a_.context, wrong, &port).error().value(), EINVAL);
    EXPECT_EQ(a_.hca->query_gid(a_.context, wrong, 0).error().value(), EINVAL);
    EXPECT_EQ(a_.hca->query_pkey(a_.context, wrong, 0).error().value(), EINVAL);
    EXPECT_EQ(a_.hca->create_ah(a_.pd, to(b_.gid, wrong, 1)).error().value(), EINVAL);
  }
}

TEST_F(Ports, EachHasItsOwnAddresses) {
  EXPECT_EQ(a_.hca->query_gid(a_.context, 1, 0).error().value(), ENODATA);
  const auto entry = a_.hca->query_gid(a_.context, 2, 0).value();
  EXPECT_EQ(entry.port_num, 2u);
  EXPECT_EQ(entry.gid.raw[15], 11);
}

TEST_F(Ports, EachHasItsOwnStateAndEvents) {
  a_.hca->set_state_of(2, IBV_PORT_DOWN);

  ibv_port_attr port{};
  a_.hca->query_port(a_.context, 1, &port).value();
  EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
  a_.hca->query_port(a_.context, 2, &port).value();
  EXPECT_EQ(port.state, IBV_PORT_DOWN);
  std::vector<int> numbers;
  while (const auto event = a_.hca->get_async_event(a_.context)) {
    if (event->event_type == IBV_EVENT_PORT_ERR) numbers.push_back(event->element.port_num);
  }
  EXPECT_EQ(numbers, std::vector<int>{2});
}

TEST_F(Ports, AQueuePairUsesThePortThatItWasGiven) {
  make(to(ipv4_gid(12), 2, 0), to(ipv4_gid(11), 2, 0));

  const auto done = send();

  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(ports_used_, std::set<int>{2});
  EXPECT_EQ(a_.hca->counters_of(1).packets_out, 0u);
  EXPECT_EQ(a_.hca->counters_of(2).packets_out, 1u);
  EXPECT_EQ(b_.hca->counters_of(2).packets_in, 1u);
}

TEST_F(Ports, APortThatIsDownStopsItsOwnQueuePairs) {
  make(to(ipv4_gid(12), 2, 0), to(ipv4_gid(11), 2, 0));

  a_.hca->set_state_of(1, IBV_PORT_DOWN);
  EXPECT_EQ(send().size(), 1u);
  a_.hca->set_state_of(2, IBV_PORT_DOWN);
  EXPECT_TRUE(send().empty());
}

TEST_F(Ports, WrongPortsAreRefusedAsByTheKernel) {
  a_.create_qp({});
  b_.create_qp({});

  EXPECT_EQ(init_at(a_, 0), EINVAL);
  EXPECT_EQ(init_at(a_, 3), EINVAL);
  ASSERT_EQ(init_at(a_, 2), 0);
  EXPECT_EQ(rtr_by(a_, b_, to(b_.gid, 1, 1)), EINVAL);  // another port than the queue pair's
  EXPECT_EQ(rtr_by(a_, b_, to(b_.gid, 0, 0)), EINVAL);
  EXPECT_EQ(rtr_by(a_, b_, to(b_.gid, 2, 1)), EINVAL);  // port 2 has no GID there
  EXPECT_EQ(rtr_by(a_, b_, to(b_.gid, 2, 0)), 0);
}

TEST_F(LidPorts, WithoutATableTheLidIsTheNumberOfThePort) {
  EXPECT_EQ(lid(a_, 1), 1);
  EXPECT_EQ(lid(a_, 2), 2);
}

TEST_F(LidPorts, EachHasALidOfItsOwnByWhichPeersReachIt) {
  const LidList lids({a_.gid, ipv4_gid(11), b_.gid, ipv4_gid(12)});
  a_.hca->set_lids(&lids);
  b_.hca->set_lids(&lids);
  EXPECT_EQ(lid(a_, 1), 1);
  EXPECT_EQ(lid(a_, 2), 2);
  EXPECT_EQ(lid(b_, 1), 3);
  EXPECT_EQ(lid(b_, 2), 4);

  make(to_lid(4, 2), to_lid(2, 2));
  const auto done = send();

  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, IBV_WC_SUCCESS);
}

TEST_F(LidPorts, PacketsToALidThatNoPortHasAreLost) {
  const LidList lids({a_.gid, ipv4_gid(11), b_.gid, ipv4_gid(12)});
  a_.hca->set_lids(&lids);
  b_.hca->set_lids(&lids);

  make(to_lid(77, 2), to_lid(2, 2));

  EXPECT_TRUE(send().empty());
  EXPECT_EQ(b_.hca->counters().unknown_qp, 1u);
}

TEST_F(LidPorts, APortWhoseAddressIsNotInTheTableHasNoLid) {
  const LidList lids({a_.gid});
  a_.hca->set_lids(&lids);

  EXPECT_EQ(lid(a_, 2), 0);
  EXPECT_EQ(a_.hca->create_ah(a_.pd, to_lid(1, 2)).error().value(), EINVAL);
}

}  // namespace
}  // namespace anyrdma::verbs::soft
