// rdma_create_ep and rdma_destroy_ep as a C program uses them.
#include "cm/c_api/testing/cm_door.h"

namespace anyrdma::c_api {
namespace {

class EpDoor : public testing::CmDoor {
 protected:
  EpDoor() {
    info.ai_flags = RAI_PASSIVE;
    info.ai_port_space = RDMA_PS_TCP;
    info.ai_qp_type = IBV_QPT_RC;
    info.ai_src_addr = there();
    info.ai_src_len = sizeof(sockaddr_in);
  }
  rdma_addrinfo info{};
};

TEST(NoFabricEp, NoEndpointIsMade) {
  rdma_addrinfo info{};
  rdma_cm_id* id = nullptr;

  EXPECT_EQ(rdma_create_ep(&id, &info, nullptr, nullptr), -1);

  EXPECT_EQ(errno, ENODEV);
}

TEST_F(EpDoor, PassiveEndpointIsBoundAndTheProgramsUntilItDestroysIt) {
  rdma_cm_id* id = nullptr;
  EXPECT_EQ(rdma_create_ep(&id, &info, nullptr, nullptr), 0);
  ASSERT_NE(id, nullptr);
  EXPECT_NE(id->verbs, nullptr);

  EXPECT_CALL(transport.last(), destroyed());
  rdma_destroy_ep(id);
}

TEST_F(EpDoor, NullArgumentsAreEinval) {
  rdma_cm_id* id = nullptr;

  EXPECT_EQ(rdma_create_ep(nullptr, &info, nullptr, nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  errno = 0;
  EXPECT_EQ(rdma_create_ep(&id, nullptr, nullptr, nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
  rdma_destroy_ep(nullptr);
}

TEST_F(EpDoor, StepThatFailsIsReportedAndGivesNoId) {
  rdma_cm_id* id = nullptr;
  info.ai_src_addr = nullptr;
  EXPECT_EQ(rdma_create_ep(&id, &info, nullptr, nullptr), -1);
  EXPECT_EQ(errno, EINVAL);

  runtime.refuse_semaphores(1);
  info.ai_src_addr = there();
  EXPECT_EQ(rdma_create_ep(&id, &info, nullptr, nullptr), -1);
  EXPECT_EQ(errno, EMFILE);
  EXPECT_EQ(id, nullptr);
}

}  // namespace
}  // namespace anyrdma::c_api
