// Automatic path migration: load, arm, migrate, fail to migrate, arm again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "verbs/soft/testing/two_ports.h"

namespace anyrdma::verbs::soft {
namespace {

using ::testing::Contains;
using testing::ipv4_gid;
using ::testing::Not;
using testing::Side;
using testing::TwoPorts;

/// A connection over port 1 of both devices.
class PathMigration : public TwoPorts {
 protected:
  PathMigration() : TwoPorts({.ports = 2, .path_migration = true}) {
    make(to(b_.gid, 1, 1), to(a_.gid, 1, 1));
  }
  static int load(Side& side, const ibv_ah_attr& address, ibv_mig_state state = IBV_MIG_REARM,
                  int mask = IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE) {
    ibv_qp_attr attr{};
    attr.alt_ah_attr = address;
    attr.alt_port_num = address.port_num;
    attr.alt_timeout = 14;
    attr.path_mig_state = state;
    const auto modified = side.hca->modify_qp(side.qp, &attr, mask);
    return modified ? 0 : modified.error().value();
  }
  static ibv_qp_attr query(Side& side) {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init{};
    side.hca->query_qp(side.qp, &attr, 0, &init).value();
    return attr;
  }
  static ibv_mig_state state_of(Side& side) { return query(side).path_mig_state; }
  void arm() {
    ASSERT_EQ(load(a_, to(ipv4_gid(12), 2, 0)), 0);
    ASSERT_EQ(load(b_, to(ipv4_gid(11), 2, 0)), 0);
    ASSERT_EQ(send().size(), 1u);
    ASSERT_EQ(state_of(a_), IBV_MIG_ARMED);
    ASSERT_EQ(state_of(b_), IBV_MIG_ARMED);
  }
};

TEST_F(PathMigration, TheDeviceSaysWhetherItCan) {
  ibv_device_attr device{};
  a_.hca->query_device(a_.context, &device).value();
  EXPECT_NE(device.device_cap_flags & IBV_DEVICE_AUTO_PATH_MIG, 0u);
  Side other(runtime_, random_, pool_, 3, 0x300);
  other.hca->query_device(other.context, &device).value();
  EXPECT_EQ(device.device_cap_flags & IBV_DEVICE_AUTO_PATH_MIG, 0u);
}

TEST_F(PathMigration, AQueuePairBeginsMigrated) {
  EXPECT_EQ(state_of(a_), IBV_MIG_MIGRATED);
  EXPECT_EQ(load(a_, {}, IBV_MIG_REARM, IBV_QP_PATH_MIG_STATE), EINVAL);  // there is no path
}

TEST_F(PathMigration, AnAlternatePathIsAPathOfAPort) {
  EXPECT_EQ(load(a_, to(ipv4_gid(12), 3, 0)), EINVAL);
  EXPECT_EQ(load(a_, to(ipv4_gid(12), 2, 1)), EINVAL);  // an empty GID
  EXPECT_EQ(load(a_, to(ipv4_gid(12), 2, 0), IBV_MIG_ARMED), EINVAL);
  EXPECT_EQ(state_of(a_), IBV_MIG_MIGRATED);

  EXPECT_EQ(load(a_, to(ipv4_gid(12), 2, 0)), 0);
  EXPECT_EQ(state_of(a_), IBV_MIG_REARM);
  EXPECT_EQ(query(a_).alt_port_num, 2);
}

TEST_F(PathMigration, AnEndIsArmedOnceItsPeerHasLoadedItsPathToo) {
  ASSERT_EQ(load(a_, to(ipv4_gid(12), 2, 0)), 0);
  ASSERT_EQ(send().size(), 1u);
  EXPECT_EQ(state_of(a_), IBV_MIG_REARM);

  ASSERT_EQ(load(b_, to(ipv4_gid(11), 2, 0)), 0);
  ASSERT_EQ(send().size(), 1u);
  EXPECT_EQ(state_of(a_), IBV_MIG_ARMED);
  EXPECT_EQ(state_of(b_), IBV_MIG_ARMED);
  EXPECT_THAT(a_.events(), Not(Contains(IBV_EVENT_PATH_MIG)));
}

TEST_F(PathMigration, WhenRetriesEndBothEndsMigrateAndTheMessageArrives) {
  arm();
  cut_ = {1};

  ASSERT_TRUE(send().empty());
  const auto done = wait();

  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, IBV_WC_SUCCESS);
  for (Side* const side : {&a_, &b_}) {
    EXPECT_EQ(state_of(*side), IBV_MIG_MIGRATED);
    EXPECT_EQ(query(*side).port_num, 2);
    EXPECT_EQ(query(*side).ah_attr.port_num, 2);
    const auto events = side->events();
    EXPECT_EQ(std::ranges::count(events, IBV_EVENT_PATH_MIG), 1);
    EXPECT_EQ(std::ranges::count(events, IBV_EVENT_PATH_MIG_ERR), 0);
  }
  EXPECT_EQ(send().size(), 1u);
  EXPECT_EQ(ports_used_, std::set<int>{2});
}

TEST_F(PathMigration, TheApplicationCanMigrateAnArmedQueuePair) {
  arm();
  ASSERT_EQ(load(a_, {}, IBV_MIG_MIGRATED, IBV_QP_PATH_MIG_STATE), 0);

  EXPECT_EQ(send().size(), 1u);
  EXPECT_EQ(ports_used_, std::set<int>{2});
  EXPECT_THAT(a_.events(), Contains(IBV_EVENT_PATH_MIG));
  EXPECT_THAT(b_.events(), Contains(IBV_EVENT_PATH_MIG));
}

TEST_F(PathMigration, WithoutAnAlternatePathTheRetriesEndInAnError) {
  cut_ = {1};

  ASSERT_TRUE(send().empty());
  const auto done = wait();

  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, IBV_WC_RETRY_EXC_ERR);
  EXPECT_THAT(a_.events(), Not(Contains(IBV_EVENT_PATH_MIG_ERR)));
}

TEST_F(PathMigration, APathWhosePortIsDownCannotBeMigratedTo) {
  arm();
  a_.hca->set_state_of(2, IBV_PORT_DOWN);
  cut_ = {1};

  ASSERT_TRUE(send().empty());
  const auto done = wait();

  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, IBV_WC_RETRY_EXC_ERR);
  const auto events = a_.events();
  EXPECT_EQ(std::ranges::count(events, IBV_EVENT_PATH_MIG_ERR), 1);
  EXPECT_EQ(std::ranges::count(events, IBV_EVENT_PATH_MIG), 0);
}

TEST_F(PathMigration, APathWhoseAddressIsGoneCannotBeMigratedTo) {
  arm();
  a_.hca->set_port_gid(2, 0, {});

  ASSERT_EQ(load(a_, {}, IBV_MIG_MIGRATED, IBV_QP_PATH_MIG_STATE), 0);

  EXPECT_EQ(state_of(a_), IBV_MIG_ARMED);
  EXPECT_THAT(a_.events(), Contains(IBV_EVENT_PATH_MIG_ERR));
}

TEST_F(PathMigration, APeerThatMigratesToAnotherPathIsNotFollowed) {
  ASSERT_EQ(load(a_, to(ipv4_gid(12), 2, 0)), 0);
  ASSERT_EQ(load(b_, to(ipv4_gid(99), 2, 0)), 0);
  ASSERT_EQ(send().size(), 1u);
  ASSERT_EQ(load(a_, {}, IBV_MIG_MIGRATED, IBV_QP_PATH_MIG_STATE), 0);

  EXPECT_TRUE(send().empty());

  EXPECT_EQ(state_of(b_), IBV_MIG_ARMED);
  const auto events = b_.events();
  EXPECT_EQ(std::ranges::count(events, IBV_EVENT_PATH_MIG_ERR), 1);
  EXPECT_EQ(std::ranges::count(events, IBV_EVENT_PATH_MIG), 0);
}

TEST_F(PathMigration, AMigratedConnectionIsArmedAgainAndMigratesBack) {
  arm();
  ASSERT_EQ(load(a_, {}, IBV_MIG_MIGRATED, IBV_QP_PATH_MIG_STATE), 0);
  ASSERT_EQ(send().size(), 1u);
  EXPECT_EQ(load(a_, {}, IBV_MIG_REARM, IBV_QP_PATH_MIG_STATE), EINVAL);  // its path is in use

  ASSERT_EQ(load(a_, to(b_.gid, 1, 1)), 0);
  ASSERT_EQ(load(b_, to(a_.gid, 1, 1)), 0);
  ASSERT_EQ(send().size(), 1u);
  ASSERT_EQ(state_of(b_), IBV_MIG_ARMED);
  cut_ = {2};
  ASSERT_TRUE(send().empty());
  const auto done = wait();

  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(query(b_).port_num, 1);
}

TEST_F(PathMigration, AReadMigratesAsWell) {
  arm();
  cut_ = {1};

  ASSERT_EQ(a_.post_send(IBV_WR_RDMA_READ, 5, 0, 8, &b_, 0), 0);
  carry();
  const auto done = wait();

  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, IBV_WC_SUCCESS);
}

}  // namespace
}  // namespace anyrdma::verbs::soft
