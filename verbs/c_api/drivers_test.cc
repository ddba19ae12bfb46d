#include <infiniband/verbs.h>

#include <array>

#include "verbs/c_api/testing/software_device.h"

extern "C" {
extern bool verbs_allow_disassociate_destroy;
void verbs_register_driver_34(const void* operations);
ibv_context* verbs_open_device(ibv_device* device, void* private_data);
void* _verbs_init_and_alloc_context(ibv_device* device, int fd, std::size_t size, void* context,
                                    std::uint32_t driver);
int execute_ioctl(ibv_context* context, void* command);
int ibv_cmd_create_qp_ex(ibv_context* context, void* qp, ibv_qp_init_attr_ex* attr, void* command,
                         std::size_t command_size, void* response, std::size_t response_size);
}

namespace anyrdma::c_api {
namespace {

using Drivers = testing::SoftwareDevice;

void called() {
  ADD_FAILURE() << "somebody has called a driver";
}

// As a driver's table begins: its name, the kernel's ABI versions, its devices, its functions.
struct DriverOperations {
  const char* name = "mlx5";
  std::array<std::uint32_t, 2> versions{1, 1};
  const void* devices = nullptr;
  std::array<void (*)(), 8> functions{called, called, called, called,
                                      called, called, called, called};
};

TEST_F(Drivers, RegisteredOneIsNeverCalledAndBringsNoDevice) {
  const DriverOperations operations;
  verbs_register_driver_34(&operations);

  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  ibv_context* context = ibv_open_device(list[0]);

  EXPECT_EQ(count, 1);
  EXPECT_STREQ(ibv_get_device_name(list[0]), "anyrdma0");
  EXPECT_EQ(ibv_close_device(context), 0);
  ibv_free_device_list(list);
}

TEST_F(Drivers, OpensNoDeviceForADriver) {
  errno = 0;
  EXPECT_EQ(verbs_open_device(nullptr, nullptr), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);

  errno = 0;
  EXPECT_EQ(_verbs_init_and_alloc_context(nullptr, -1, 4096, nullptr, 0), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(Drivers, CommandsToTheKernelAreNotSupported) {
  errno = 0;
  EXPECT_EQ(execute_ioctl(nullptr, nullptr), EOPNOTSUPP);
  EXPECT_EQ(errno, EOPNOTSUPP);

  errno = 0;
  EXPECT_EQ(ibv_cmd_create_qp_ex(nullptr, nullptr, nullptr, nullptr, 0, nullptr, 0), EOPNOTSUPP);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(Drivers, MaySetWhetherTheyFreeWhatIsLeftOfADevice) {
  EXPECT_FALSE(verbs_allow_disassociate_destroy);
  verbs_allow_disassociate_destroy = true;
}

}  // namespace
}  // namespace anyrdma::c_api
