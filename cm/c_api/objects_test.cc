// What an id owns or names: shared receive queues, ECE, devices; what the door adds to cm.
#include <rdma/rdma_verbs.h>

#include "cm/c_api/testing/cm_door.h"

namespace anyrdma::c_api {
namespace {

class ObjectsDoor : public testing::CmDoor {
 protected:
  ObjectsDoor() : id(routed()) {
    extended.attr = {16, 1, 0};
    extended.comp_mask = IBV_SRQ_INIT_ATTR_TYPE;
    extended.srq_type = IBV_SRQT_BASIC;
  }
  ~ObjectsDoor() override { destroy(id); }

  rdma_cm_id* id;
  ibv_srq_init_attr plain{nullptr, {16, 1, 0}};
  ibv_srq_init_attr_ex extended{};
};

// --- shared receive queues ----------------------------------------------------------------------

TEST_F(ObjectsDoor, SharedReceiveQueueIsTheIdsUntilDestroyed) {
  EXPECT_EQ(rdma_create_srq(id, nullptr, &plain), 0);
  EXPECT_NE(id->srq, nullptr);

  rdma_destroy_srq(id);

  EXPECT_EQ(id->srq, nullptr);
  EXPECT_EQ(provider.live.srqs, 0u);
}

TEST_F(ObjectsDoor, ExtendedSharedReceiveQueueGetsTheIdsDomain) {
  EXPECT_EQ(rdma_create_srq_ex(id, &extended), 0);

  EXPECT_EQ(extended.pd, id->pd);
  EXPECT_EQ(extended.comp_mask & IBV_SRQ_INIT_ATTR_PD, unsigned{IBV_SRQ_INIT_ATTR_PD});
  rdma_destroy_srq(id);
}

TEST_F(ObjectsDoor, ExtendedSharedReceiveQueueNeedsItsType) {
  extended.comp_mask = 0;

  EXPECT_EQ(rdma_create_srq_ex(id, &extended), -1);

  EXPECT_EQ(errno, EINVAL);
}

TEST_F(ObjectsDoor, TypesThatTheDeviceLacksAreEopnotsupp) {
  extended.srq_type = IBV_SRQT_XRC;

  EXPECT_EQ(rdma_create_srq_ex(id, &extended), -1);

  EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(ObjectsDoor, SharedReceiveQueueWithoutDeviceNullOrMemoryFails) {
  rdma_cm_id* fresh = make_id();
  EXPECT_EQ(rdma_create_srq(fresh, nullptr, &plain), -1);
  EXPECT_EQ(rdma_create_srq_ex(fresh, &extended), -1);
  EXPECT_EQ(rdma_create_srq(id, nullptr, nullptr), -1);
  EXPECT_EQ(rdma_create_srq_ex(id, nullptr), -1);
  EXPECT_EQ(rdma_create_srq(nullptr, nullptr, &plain), -1);
  EXPECT_EQ(rdma_create_srq_ex(nullptr, &extended), -1);
  EXPECT_EQ(errno, EINVAL);
  rdma_destroy_srq(nullptr);
  rdma_destroy_srq(id);

  provider.create_srq_error = ENOMEM;
  EXPECT_EQ(rdma_create_srq(id, nullptr, &plain), -1);
  EXPECT_EQ(errno, ENOMEM);
  destroy(fresh);
}

// --- enhanced connection establishment ----------------------------------------------------------

TEST_F(ObjectsDoor, EceOfTheProgramIsTakenAndOfThePeerShown) {
  ibv_ece own{0x15b3, 1, 0};
  ibv_ece peer{1, 1, 1};

  EXPECT_EQ(rdma_set_local_ece(id, &own), 0);
  EXPECT_EQ(rdma_get_remote_ece(id, &peer), 0);

  EXPECT_EQ(peer.vendor_id, 0u);
  EXPECT_EQ(peer.options, 0u);
  EXPECT_EQ(peer.comp_mask, 0u);
}

TEST_F(ObjectsDoor, EceIsEinvalWithNullVendorZeroOrAQueuePair) {
  ibv_ece own{0, 1, 0};
  EXPECT_EQ(rdma_set_local_ece(id, &own), -1);
  EXPECT_EQ(rdma_set_local_ece(id, nullptr), -1);
  EXPECT_EQ(rdma_set_local_ece(nullptr, &own), -1);
  EXPECT_EQ(rdma_get_remote_ece(id, nullptr), -1);
  EXPECT_EQ(rdma_get_remote_ece(nullptr, &own), -1);
  EXPECT_EQ(errno, EINVAL);

  ibv_qp_init_attr attr{};
  attr.qp_type = IBV_QPT_RC;
  attr.cap = {1, 1, 1, 1, 0};
  EXPECT_EQ(rdma_create_qp(id, nullptr, &attr), 0);
  own.vendor_id = 1;
  errno = 0;
  EXPECT_EQ(rdma_set_local_ece(id, &own), -1);
  EXPECT_EQ(errno, EINVAL);
  errno = 0;
  EXPECT_EQ(rdma_get_remote_ece(id, &own), -1);
  EXPECT_EQ(errno, EINVAL);
  rdma_destroy_qp(id);
}

// --- devices ------------------------------------------------------------------------------------

TEST_F(ObjectsDoor, DevicesAreTheContextsThatIdsShow) {
  int count = 7;
  ibv_context** devices = rdma_get_devices(&count);

  ASSERT_NE(devices, nullptr);
  EXPECT_EQ(count, 1);
  EXPECT_EQ(devices[0], id->verbs);
  EXPECT_EQ(devices[1], nullptr);
  rdma_free_devices(devices);
}

TEST_F(ObjectsDoor, DevicesNeedNotBeCounted) {
  ibv_context** devices = rdma_get_devices(nullptr);

  EXPECT_NE(devices, nullptr);
  rdma_free_devices(devices);
  rdma_free_devices(nullptr);
}

TEST(NoFabricDevices, ThereAreNone) {
  int count = 7;

  EXPECT_EQ(rdma_get_devices(&count), nullptr);

  EXPECT_EQ(errno, ENODEV);
  EXPECT_EQ(count, 0);
}

// --- notification -------------------------------------------------------------------------------

TEST_F(ObjectsDoor, NotificationOfAMigratedPathGoesDown) {
  rdma_conn_param param{};
  EXPECT_EQ(rdma_connect(id, &param), 0);
  EXPECT_CALL(transport.last(), notify(IBV_EVENT_PATH_MIG));

  EXPECT_EQ(rdma_notify(id, IBV_EVENT_PATH_MIG), 0);
}

}  // namespace
}  // namespace anyrdma::c_api
