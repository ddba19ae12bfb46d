// rdma_set_option: what goes down, and under which name.
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

TEST_F(IdOption, TheEndpointDecidesAboutEveryOption) {
  EXPECT_CALL(*placed_.endpoint, set_option(RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, _))
      .WillOnce(Return(errno_code(EINVAL)));
  EXPECT_CALL(*placed_.endpoint, set_option(2, 17, _)).WillOnce(Return(errno_code(ENOSYS)));

  EXPECT_EQ(set(placed_, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 4), EINVAL);
  EXPECT_EQ(set(placed_, 2, 17, 1), ENOSYS);
}

TEST_F(IdOption, AnIdWithoutAChannelHasNone) {
  Placed orphan = place(Place::kDestroying);

  EXPECT_EQ(set(orphan, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, 1), ENOENT);
  EXPECT_EQ(set(orphan, 2, 17, 1), ENOENT);
}

TEST(CallNames, AnOptionIsNamedByWhatItSets) {
  const std::array<std::uint8_t, 4> zero{};
  const std::array<std::uint8_t, 4> one{1};
  const auto name = [](int level, int option, std::span<const std::uint8_t> value) {
    const auto call = transport::call_of_option(level, option, value);
    return call ? to_string(*call) : "none";
  };
  EXPECT_EQ(name(RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, one), "set_option(ID, TOS)");
  EXPECT_EQ(name(RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, one), "set_option(ID, REUSEADDR=1)");
  EXPECT_EQ(name(RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, zero), "set_option(ID, REUSEADDR=0)");
  EXPECT_EQ(name(RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, zero), "set_option(ID, AFONLY)");
  EXPECT_EQ(name(RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, one), "set_option(ID, ACK_TIMEOUT)");
  EXPECT_EQ(name(RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, one), "set_option(IB, PATH)");
  EXPECT_EQ(name(RDMA_OPTION_IB, 0, one), "none");
  EXPECT_EQ(name(RDMA_OPTION_ID, 17, one), "none");
}

}  // namespace
}  // namespace anyrdma::cm::testing
