// A process that has functions by the names of the system's, as one that is linked with
// libanyrdma_sim has.
#include <gtest/gtest.h>
#include <rdma/rdma_cma.h>

#include "verbs/ibv/functions.h"
#include "verbs/ibv/system_libraries.h"

namespace {

int calls = 0;  // NOLINT: the function below is C's

}  // namespace

extern "C" ibv_device** ibv_get_device_list(int* count) {
  ++calls;
  if (count != nullptr) *count = 0;
  return nullptr;
}

namespace anyrdma::verbs::ibv {
namespace {

TEST(SystemLibraries, CallTheirOwnFunctionsWhereTheProgramHasSomeByTheirNames) {
  const auto opened = SystemLibraries::open();
  const auto* libraries = std::get_if<SystemLibraries>(&opened);
  if (libraries == nullptr) GTEST_SKIP() << std::get<LoadFault>(opened).sentence;
  ASSERT_EQ(ibv_get_device_list(nullptr), nullptr);
  ASSERT_EQ(calls, 1);

  // librdmacm asks libibverbs for the devices first.
  const auto create = reinterpret_cast<rdma_event_channel* (*)()>(
      libraries->cm_symbol("rdma_create_event_channel", "RDMACM_1.0"));
  ASSERT_NE(create, nullptr);
  (void)create();

  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace anyrdma::verbs::ibv
