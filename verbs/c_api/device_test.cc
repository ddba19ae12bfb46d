#include <infiniband/verbs.h>

#include <array>
#include <cstring>
#include <string>
#include <string_view>

#include "verbs/c_api/testing/software_device.h"

extern "C" {
int ibv_query_gid_type(ibv_context* context, std::uint8_t port_num, unsigned index, int* type);
int ibv_read_sysfs_file(const char* dir, const char* file, char* buf, std::size_t size);
}

namespace anyrdma::c_api {
namespace {

class DeviceDoor : public testing::SoftwareDevice {
 protected:
  DeviceDoor() {
    ibv_device** list = ibv_get_device_list(nullptr);
    device = list[0];
    ibv_free_device_list(list);
    context = ibv_open_device(device);
  }
  ~DeviceDoor() override { EXPECT_EQ(ibv_close_device(context), 0); }

  ibv_device* device;
  ibv_context* context;
};

TEST(NoFabric, DeviceListIsNullWithEnodevAndACountOfZero) {
  int count = 7;

  EXPECT_EQ(ibv_get_device_list(&count), nullptr);

  EXPECT_EQ(errno, ENODEV);
  EXPECT_EQ(count, 0);
}

TEST_F(DeviceDoor, ListsItsDeviceAndEndsTheListWithNull) {
  int count = 0;

  ibv_device** list = ibv_get_device_list(&count);

  ASSERT_EQ(count, 1);
  EXPECT_EQ(list[0], device);
  EXPECT_EQ(list[1], nullptr);
  EXPECT_STREQ(ibv_get_device_name(list[0]), "anyrdma0");
  ibv_free_device_list(list);
}

TEST_F(DeviceDoor, RefusesToOpenNullAndForeignDevices) {
  EXPECT_EQ(ibv_open_device(nullptr), nullptr);
  EXPECT_EQ(errno, EINVAL);

  ibv_device foreign{};
  EXPECT_EQ(ibv_open_device(&foreign), nullptr);
  EXPECT_EQ(errno, ENODEV);
  EXPECT_EQ(ibv_get_device_index(&foreign), -1);
}

TEST_F(DeviceDoor, AnswersWhatItsFolderInSysWouldSay) {
  const auto said = [this](const char* file) -> std::string {
    std::array<char, 64> buffer{};
    const int length = ibv_read_sysfs_file(device->ibdev_path, file, buffer.data(), buffer.size());
    if (length < 0) return std::strerror(errno);
    return {buffer.data(), static_cast<std::size_t>(length)};
  };
  ibv_gid gid{};
  ASSERT_EQ(ibv_query_gid(context, 1, 1, &gid), 0);
  const std::string last_group = said("ports/1/gids/1").substr(35);

  EXPECT_EQ(said("node_type"), "1: CA");
  EXPECT_EQ(said("node_guid"), "0200:00ff:fe00:0001");
  EXPECT_EQ(said("ports/1/state"), "4: ACTIVE");
  EXPECT_EQ(said("ports/1/link_layer"), "Ethernet");
  EXPECT_EQ(said("ports/1/pkeys/0"), "0xffff");
  EXPECT_EQ(said("ports/1/gid_attrs/types/1"), "RoCE v2");
  EXPECT_EQ(std::stoi(last_group, nullptr, 16), gid.raw[14] << 8 | gid.raw[15]);
  EXPECT_EQ(said("ports/1/gids/0"), "0000:0000:0000:0000:0000:0000:0000:0000");
  EXPECT_EQ(said("ports/1/gid_attrs/types/0"), std::strerror(EINVAL));
  EXPECT_EQ(said("board_id"), std::strerror(ENOENT));
  EXPECT_EQ(said("ports/2/state"), std::strerror(ENOENT));
  EXPECT_EQ(said("ports/1/pkeys/1"), std::strerror(ENOENT));
  EXPECT_EQ(said("ports/1/gids/x"), std::strerror(ENOENT));
  EXPECT_EQ(said("ports/1/gids/99999"), std::strerror(ENOENT));
}

TEST(SysFile, IsReadWhereThereIsOneAndCutToTheRoom) {
  std::array<char, 4> buffer{'x', 'x', 'x', 'x'};
  EXPECT_EQ(ibv_read_sysfs_file("/proc/sys/kernel", "ostype", buffer.data(), 3), 3);
  EXPECT_EQ(std::string_view(buffer.data(), 4), "Linx");
  EXPECT_EQ(ibv_read_sysfs_file("/proc", "sys", buffer.data(), buffer.size()), -1);
  EXPECT_EQ(errno, EISDIR);
  EXPECT_EQ(ibv_read_sysfs_file("/nowhere", "file", buffer.data(), buffer.size()), -1);
  EXPECT_EQ(errno, ENOENT);
  EXPECT_EQ(ibv_read_sysfs_file(nullptr, "file", buffer.data(), buffer.size()), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(DeviceDoor, CloseOfNullFails) {
  EXPECT_EQ(ibv_close_device(nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(DeviceDoor, CloseEndsWhatWasMadeOfTheContext) {
  ASSERT_NE(ibv_alloc_pd(context), nullptr);

  EXPECT_EQ(ibv_close_device(context), 0);

  context = ibv_open_device(device);
}

TEST_F(DeviceDoor, GuidIsInNetworkOrder) {
  const __be64 guid = ibv_get_device_guid(device);

  std::uint8_t first = 0;
  std::memcpy(&first, &guid, 1);
  EXPECT_EQ(first, 0x02);
  EXPECT_EQ(ibv_get_device_index(device), 0);
}

TEST_F(DeviceDoor, QueriesGiveErrnoValuesForBadArguments) {
  ibv_device_attr attr{};
  ibv_port_attr port{};

  EXPECT_EQ(ibv_query_device(context, &attr), 0);
  EXPECT_EQ(ibv_query_device(nullptr, &attr), EINVAL);
  EXPECT_EQ(ibv_query_device(context, nullptr), EINVAL);
  EXPECT_EQ(ibv_query_port(context, 1, &port), 0);
  EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
  EXPECT_EQ(ibv_query_port(context, 2, &port), EINVAL);
}

// Programs from before ibv_query_port was inline pass 48 bytes.
TEST_F(DeviceDoor, OldQueryPortWritesOnlyTheOldStructure) {
  struct {
    unsigned char attr[48];
    unsigned char guard = 0xa5;
  } old;

  const int error =
      (ibv_query_port)(context, 1, reinterpret_cast<_compat_ibv_port_attr*>(old.attr));

  EXPECT_EQ(error, 0);
  EXPECT_EQ(old.guard, 0xa5);
  ibv_port_attr port{};
  std::memcpy(static_cast<void*>(&port), old.attr, sizeof old.attr);
  EXPECT_EQ(port.state, IBV_PORT_ACTIVE);
}

TEST_F(DeviceDoor, EmptyGidIndexReadsAsZerosAndABadOneFails) {
  ibv_gid gid;
  std::memset(&gid, 0xff, sizeof gid);

  EXPECT_EQ(ibv_query_gid(context, 1, 0, &gid), 0);
  EXPECT_EQ(gid.global.interface_id, 0u);
  EXPECT_EQ(ibv_query_gid(context, 1, 1, &gid), 0);
  EXPECT_EQ(gid.raw[12], 10);
  EXPECT_EQ(ibv_query_gid(context, 1, -1, &gid), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_query_gid(context, 9, 0, &gid), -1);
}

TEST_F(DeviceDoor, GidEntriesComeAlsoAsExtendedStructures) {
  ibv_gid_entry entry{};

  EXPECT_EQ(ibv_query_gid_ex(context, 1, 1, &entry, 0), 0);
  EXPECT_EQ(entry.gid_type, static_cast<std::uint32_t>(IBV_GID_TYPE_ROCE_V2));
  EXPECT_EQ(ibv_query_gid_ex(context, 1, 0, &entry, 0), ENODATA);
  EXPECT_EQ(ibv_query_gid_ex(context, 1, 1, &entry, 1), EOPNOTSUPP);

  ibv_gid_entry table[4]{};
  EXPECT_EQ(ibv_query_gid_table(context, table, 4, 0), 1);
  EXPECT_EQ(table[0].gid_index, 1u);
  EXPECT_EQ(ibv_query_gid_table(context, table, 0, 0), -EINVAL);  // no room for what is there
  EXPECT_EQ(ibv_query_gid_table(context, table, 4, 1), -EOPNOTSUPP);
}

TEST_F(DeviceDoor, GidTypeIsOneForRoceV2) {
  int type = 7;

  EXPECT_EQ(ibv_query_gid_type(context, 1, 1, &type), 0);
  EXPECT_EQ(type, 1);
  EXPECT_EQ(ibv_query_gid_type(context, 1, 1, nullptr), -1);
}

TEST_F(DeviceDoor, HasTheDefaultPartitionOnly) {
  __be16 pkey = 0;

  EXPECT_EQ(ibv_query_pkey(context, 1, 0, &pkey), 0);
  EXPECT_EQ(pkey, 0xffff);
  EXPECT_EQ(ibv_query_pkey(context, 1, 1, &pkey), -1);
  EXPECT_EQ(ibv_get_pkey_index(context, 1, 0xffff), 0);
  EXPECT_EQ(ibv_get_pkey_index(context, 1, 0x1234), -1);
}

TEST_F(DeviceDoor, AsynchronousEventOfTheDeviceCanBeReadAndAcknowledged) {
  hca->set_port_state(IBV_PORT_DOWN);
  ibv_async_event event{};

  EXPECT_EQ(ibv_get_async_event(context, &event), 0);
  EXPECT_EQ(event.event_type, IBV_EVENT_PORT_ERR);
  ibv_ack_async_event(&event);
  ibv_ack_async_event(nullptr);
  EXPECT_EQ(ibv_get_async_event(nullptr, &event), -1);
  EXPECT_EQ(errno, EINVAL);
}

}  // namespace
}  // namespace anyrdma::c_api
