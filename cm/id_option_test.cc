// rdma_set_option: sizes, levels, what belongs to which kind of id. States: id_state_test.
#include <array>

#include "cm/cm_fixture.h"

namespace anyrdma::cm::testing {
namespace {

class IdOption : public CmTest {
 protected:
  int set(Placed& placed, int level, int option, std::size_t size) {
    const std::array<std::uint8_t, 1024> ones{1};
    return errno_of(placed.id->set_option(level, option, std::span(ones).first(size)));
  }
  Placed placed_ = make_id();
};

TEST_F(IdOption, EachHasItsSize) {
  EXPECT_EQ(set(placed_, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 1), 0);
  EXPECT_EQ(set(placed_, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 4), EINVAL);
  EXPECT_EQ(set(placed_, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 4), 0);
  EXPECT_EQ(set(placed_, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, 1), EINVAL);
  EXPECT_EQ(set(placed_, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 4), 0);
  EXPECT_EQ(set(placed_, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, 0), EINVAL);
  EXPECT_EQ(set(placed_, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 1), 0);
  EXPECT_EQ(set(placed_, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 2), EINVAL);
}

TEST_F(IdOption, UnknownOnesDoNotExist) {
  EXPECT_CALL(*placed_.endpoint, set_option).Times(0);

  EXPECT_EQ(set(placed_, RDMA_OPTION_ID, 17, 1), ENOSYS);
  EXPECT_EQ(set(placed_, RDMA_OPTION_IB, 0, 1), ENOSYS);
  EXPECT_EQ(set(placed_, 2, 0, 1), ENOSYS);
}

TEST_F(IdOption, AckTimeoutIsForConnectedServices) {
  Placed datagram = make_id(RDMA_PS_UDP);

  EXPECT_EQ(set(datagram, RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, 1), EINVAL);
}

TEST_F(IdOption, APathIsAWholeNumberOfRecords) {
  Placed resolved = place(State::kAddrResolved);

  EXPECT_EQ(set(resolved, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 0), EINVAL);
  EXPECT_EQ(set(resolved, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, sizeof(ibv_path_data) - 1), EINVAL);
  EXPECT_TRUE(channel_is_empty());
}

TEST_F(IdOption, SettingThePathQueuesRouteResolved) {
  Placed resolved = place(State::kAddrResolved);

  EXPECT_EQ(set(resolved, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, 2 * sizeof(ibv_path_data)), 0);

  EXPECT_THAT(next(), EventIs(RDMA_CM_EVENT_ROUTE_RESOLVED));
  EXPECT_EQ(resolved.id->raw()->route.num_paths, 1);
}

}  // namespace
}  // namespace anyrdma::cm::testing
