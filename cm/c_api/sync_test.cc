// Synchronous ids as a C program uses them, over a MockTransport.
#include "cm/c_api/testing/cm_door.h"

namespace anyrdma::c_api {
namespace {

class SyncDoor : public testing::CmDoor {
 protected:
  rdma_cm_id* make_sync() {
    rdma_cm_id* id = nullptr;
    EXPECT_EQ(rdma_create_id(nullptr, &id, this, RDMA_PS_TCP), 0);
    return id;
  }
  void answer(rdma_cm_event_type type, int status = 0) {
    runtime.when_blocked = [this, &endpoint = transport.last(), type, status] {
      transport.raise(endpoint, type, status);
    };
  }
  rdma_cm_id* make_listener() {
    rdma_cm_id* id = make_sync();
    EXPECT_EQ(rdma_bind_addr(id, there()), 0);
    EXPECT_EQ(rdma_listen(id, 1), 0);
    return id;
  }
};

TEST(NoFabricSync, NoChannelIsEnodevToo) {
  rdma_cm_id* id = nullptr;

  EXPECT_EQ(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP), -1);

  EXPECT_EQ(errno, ENODEV);
}

TEST_F(SyncDoor, CallsReturnWhenTheirEventIsThereAndShowIt) {
  rdma_cm_id* id = make_sync();
  answer(RDMA_CM_EVENT_ADDR_RESOLVED);

  EXPECT_EQ(rdma_resolve_addr(id, nullptr, there(), 1), 0);

  ASSERT_NE(id->event, nullptr);
  EXPECT_EQ(id->event->event, RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_EQ(id->event->id, id);
  EXPECT_EQ(id->context, this);
  destroy(id);
}

TEST_F(SyncDoor, TheEventsStatusBecomesErrno) {
  rdma_cm_id* id = make_sync();
  answer(RDMA_CM_EVENT_ADDR_ERROR, -ETIMEDOUT);

  EXPECT_EQ(rdma_resolve_addr(id, nullptr, there(), 1), -1);

  EXPECT_EQ(errno, ETIMEDOUT);
  destroy(id);
}

TEST_F(SyncDoor, GetRequestHandsTheChildToTheProgram) {
  rdma_cm_id* listener = make_listener();
  transport.request(transport.last());
  rdma_cm_id* child = nullptr;

  ASSERT_EQ(rdma_get_request(listener, &child), 0);

  EXPECT_EQ(child->event->listen_id, listener);
  EXPECT_EQ(rdma_reject(child, nullptr, 0), 0);
  destroy(child);
  destroy(listener);
}

TEST_F(SyncDoor, GetRequestRefusesAsynchronousIdsAndNullResults) {
  rdma_cm_id* asynchronous = make_id();
  rdma_cm_id* child = nullptr;

  EXPECT_EQ(rdma_get_request(asynchronous, &child), -1);
  EXPECT_EQ(errno, EINVAL);
  errno = 0;
  EXPECT_EQ(rdma_get_request(asynchronous, nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  destroy(asynchronous);
}

TEST_F(SyncDoor, OutOfDescriptorsAnIdIsNeitherMadeNorMigrated) {
  rdma_cm_id* asynchronous = make_id();
  rdma_cm_id* id = nullptr;

  runtime.refuse_semaphores(2);
  EXPECT_EQ(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP), -1);
  EXPECT_EQ(errno, EMFILE);
  errno = 0;
  EXPECT_EQ(rdma_migrate_id(asynchronous, nullptr), -1);
  EXPECT_EQ(errno, EMFILE);
  EXPECT_EQ(asynchronous->channel, channel);
  destroy(asynchronous);
}

TEST_F(SyncDoor, MigrationGoesBothWays) {
  rdma_cm_id* id = make_id();

  EXPECT_EQ(rdma_migrate_id(id, nullptr), 0);
  EXPECT_NE(id->channel, channel);
  EXPECT_EQ(rdma_migrate_id(id, nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(rdma_migrate_id(id, channel), 0);
  EXPECT_EQ(id->channel, channel);
  destroy(id);
}

}  // namespace
}  // namespace anyrdma::c_api
