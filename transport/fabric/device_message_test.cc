#include "transport/fabric/device_message.h"

#include <gtest/gtest.h>

#include "transport/fabric/neighbour_message.h"

namespace anyrdma::transport::fabric {
namespace {

using soft::DeviceChange;
using verbs::soft::Packet;
using verbs::soft::PacketPool;

TEST(DeviceMessage, SaysEachChange) {
  PacketPool pool;
  for (int kind = 0; kind <= static_cast<int>(DeviceChange::kLast); ++kind) {
    const DeviceChange change{.kind = static_cast<DeviceChange::Kind>(kind),
                              .object = {.made = 3, .number = 0x11},
                              .event = IBV_EVENT_QP_REQ_ERR,
                              .neighbour = soft::Address::ipv4(0x0a000002),
                              .link = soft::LinkNumber{3},
                              .bits = 120,
                              .new_guid = true};
    const auto packet = pool.take();
    DeviceMessage{change, 5}.serialize(*packet);

    const auto read = DeviceMessage::parse(*packet);

    ASSERT_TRUE(read);
    EXPECT_EQ(read->rail, 5);
    EXPECT_EQ(read->change.kind, change.kind);
    EXPECT_EQ(read->change.object.made, 3u);
    EXPECT_EQ(read->change.object.number, 0x11u);
    EXPECT_EQ(read->change.event, IBV_EVENT_QP_REQ_ERR);
    EXPECT_EQ(read->change.neighbour, change.neighbour);
    EXPECT_EQ(read->change.link, change.link);
    EXPECT_EQ(read->change.bits, 120);
    EXPECT_TRUE(read->change.new_guid);
    EXPECT_FALSE(NeighbourMessage::parse(*packet));
  }
}

TEST(DeviceMessage, IsNoOtherPacket) {
  PacketPool pool;
  const auto packet = pool.take();
  DeviceMessage{}.serialize(*packet);
  Packet& changed = *packet;

  changed.storage[1] = static_cast<std::uint8_t>(DeviceChange::kLast) + 1;
  EXPECT_FALSE(DeviceMessage::parse(changed));
  changed.storage[1] = 0;
  EXPECT_TRUE(DeviceMessage::parse(changed));
  --changed.size;
  EXPECT_FALSE(DeviceMessage::parse(changed));
  NeighbourMessage{}.serialize(changed);
  EXPECT_FALSE(DeviceMessage::parse(changed));
}

}  // namespace
}  // namespace anyrdma::transport::fabric
