#include <fcntl.h>
#include <infiniband/verbs.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <new>
#include <utility>

#include "verbs/c_api/c_result.h"
#include "verbs/c_api/testing/software_device.h"

namespace anyrdma::c_api {
namespace {

class ObjectDoor : public testing::SoftwareDevice {
 protected:
  ObjectDoor() : context(ibv_open_device(hca->device())), pd(ibv_alloc_pd(context)) {}
  ~ObjectDoor() override {
    EXPECT_EQ(ibv_dealloc_pd(pd), 0);
    EXPECT_EQ(ibv_close_device(context), 0);
  }

  ibv_context* context;
  ibv_pd* pd;
  std::array<char, 64> buffer{};
};

TEST_F(ObjectDoor, NullArgumentsAreEinvalWhereRdmaCoreWouldCrash) {
  EXPECT_EQ(ibv_alloc_pd(nullptr), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(ibv_dealloc_pd(nullptr), EINVAL);
  EXPECT_EQ((ibv_reg_mr)(nullptr, buffer.data(), 1, 0), nullptr);
  EXPECT_EQ(ibv_dereg_mr(nullptr), EINVAL);
  EXPECT_EQ(ibv_create_comp_channel(nullptr), nullptr);
  EXPECT_EQ(ibv_destroy_comp_channel(nullptr), EINVAL);
  EXPECT_EQ(ibv_create_cq(nullptr, 1, nullptr, nullptr, 0), nullptr);
  EXPECT_EQ(ibv_destroy_cq(nullptr), EINVAL);
  EXPECT_EQ(ibv_get_cq_event(nullptr, nullptr, nullptr), -1);
  ibv_ack_cq_events(nullptr, 1);
  EXPECT_EQ(ibv_create_qp(nullptr, nullptr), nullptr);
  EXPECT_EQ(ibv_create_qp(pd, nullptr), nullptr);
  EXPECT_EQ(ibv_modify_qp(nullptr, nullptr, 0), EINVAL);
  EXPECT_EQ(ibv_query_qp(nullptr, nullptr, 0, nullptr), EINVAL);
  EXPECT_EQ(ibv_destroy_qp(nullptr), EINVAL);
}

TEST_F(ObjectDoor, BusyObjectsGiveTheErrnoValueAndSetErrno) {
  ibv_mr* mr = (ibv_reg_mr)(pd, buffer.data(), buffer.size(), IBV_ACCESS_LOCAL_WRITE);

  EXPECT_EQ(ibv_dealloc_pd(pd), EBUSY);

  EXPECT_EQ(errno, EBUSY);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(ObjectDoor, MemoryShowsItsFieldsAndKeepsItsOwnAddressUnlessToldOtherwise) {
  ibv_mr* mr = (ibv_reg_mr)(pd, buffer.data(), buffer.size(), IBV_ACCESS_LOCAL_WRITE);
  ibv_mr* moved = ibv_reg_mr_iova(pd, buffer.data(), buffer.size(), 0x1000, 0);

  EXPECT_EQ(mr->addr, buffer.data());
  EXPECT_EQ(mr->length, buffer.size());
  EXPECT_EQ(mr->context, context);
  EXPECT_EQ(mr->pd, pd);
  EXPECT_NE(mr->lkey, moved->lkey);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
  EXPECT_EQ(ibv_dereg_mr(moved), 0);
}

TEST_F(ObjectDoor, WrongAccessIsToldFromMemoryThatIsNotThere) {
  EXPECT_EQ((ibv_reg_mr)(pd, buffer.data(), 1, IBV_ACCESS_REMOTE_WRITE), nullptr);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ((ibv_reg_mr)(pd, nullptr, 1, IBV_ACCESS_LOCAL_WRITE), nullptr);
  EXPECT_EQ(errno, EFAULT);
}

TEST_F(ObjectDoor, RegisteringAgainHasErrorsOfItsOwn) {
  ibv_mr* mr = (ibv_reg_mr)(pd, buffer.data(), buffer.size(), IBV_ACCESS_LOCAL_WRITE);
  EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, 0), 0);
  EXPECT_EQ(ibv_rereg_mr(mr, 0, nullptr, nullptr, 0, 0), IBV_REREG_MR_ERR_CMD);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(
      ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_REMOTE_WRITE),
      IBV_REREG_MR_ERR_CMD);
  EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, 1 << 19),
            IBV_REREG_MR_ERR_CMD);
  EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, nullptr, nullptr, 0, 0), IBV_REREG_MR_ERR_CMD);
  EXPECT_EQ(ibv_rereg_mr(mr, 1 << 10, nullptr, nullptr, 0, 0), IBV_REREG_MR_ERR_INPUT);
  EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, nullptr, 1, 0),
            IBV_REREG_MR_ERR_INPUT);
  EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, buffer.data(), 0, 0),
            IBV_REREG_MR_ERR_INPUT);
  EXPECT_EQ(ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_PD, pd, nullptr, 0, IBV_ACCESS_LOCAL_WRITE),
            IBV_REREG_MR_ERR_INPUT);
  EXPECT_EQ(ibv_rereg_mr(nullptr, 0, nullptr, nullptr, 0, 0), IBV_REREG_MR_ERR_INPUT);
  EXPECT_EQ(
      ibv_rereg_mr(mr, IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, reinterpret_cast<void*>(1), 1, 0),
      IBV_REREG_MR_ERR_CMD);
  EXPECT_EQ(errno, EFAULT);
  EXPECT_EQ(ibv_dereg_mr(mr), 0);
}

TEST_F(ObjectDoor, AChannelThatWasDestroyedIsABadDescriptor) {
  ibv_comp_channel* channel = ibv_create_comp_channel(context);
  ASSERT_EQ(ibv_destroy_comp_channel(channel), 0);
  ibv_cq* cq = nullptr;
  void* cq_context = nullptr;

  EXPECT_EQ(ibv_get_cq_event(channel, &cq, &cq_context), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(ibv_create_cq(context, 1, nullptr, channel, 0), nullptr);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(ibv_destroy_comp_channel(channel), EBADF);
}

TEST_F(ObjectDoor, AnAddressIsThatOfANewChannelAgain) {
  for (int i = 0; i < 200; ++i) {
    ibv_comp_channel* channel = ibv_create_comp_channel(context);
    ibv_cq* cq = nullptr;
    void* cq_context = nullptr;
    ASSERT_EQ(ibv_get_cq_event(channel, &cq, &cq_context), -1);
    ASSERT_EQ(errno, EDEADLK) << i;
    ASSERT_EQ(ibv_destroy_comp_channel(channel), 0);
  }
}

TEST_F(ObjectDoor, ChannelIsBusyWhileACompletionQueueUsesIt) {
  ibv_comp_channel* channel = ibv_create_comp_channel(context);
  ibv_cq* cq = ibv_create_cq(context, 4, this, channel, 0);

  EXPECT_EQ(ibv_destroy_comp_channel(channel), EBUSY);

  EXPECT_EQ(cq->cq_context, this);
  EXPECT_EQ(cq->channel, channel);
  EXPECT_GE(cq->cqe, 4);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
  EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
}

TEST_F(ObjectDoor, CompletionQueueOfNoEntriesIsRefused) {
  EXPECT_EQ(ibv_create_cq(context, 0, nullptr, nullptr, 0), nullptr);
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(ObjectDoor, WaitForAnEventThatNobodyWillPostFails) {
  ibv_comp_channel* channel = ibv_create_comp_channel(context);
  ibv_cq* cq = nullptr;
  void* cq_context = nullptr;

  EXPECT_EQ(ibv_get_cq_event(channel, &cq, &cq_context), -1);

  EXPECT_EQ(errno, EDEADLK);
  EXPECT_EQ(ibv_destroy_comp_channel(channel), 0);
}

TEST_F(ObjectDoor, QueuePairLivesFromResetToInit) {
  ibv_cq* cq = ibv_create_cq(context, 4, nullptr, nullptr, 0);
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq;
  init.cap = {1, 1, 1, 1, 0};
  init.qp_type = IBV_QPT_RC;
  ibv_qp* qp = ibv_create_qp(pd, &init);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTS;

  EXPECT_EQ(ibv_modify_qp(qp, &attr, IBV_QP_STATE), EINVAL);
  attr.qp_state = IBV_QPS_INIT;
  attr.port_num = 1;
  EXPECT_EQ(ibv_modify_qp(qp, &attr,
                          IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS),
            0);
  EXPECT_EQ(qp->state, IBV_QPS_INIT);
  EXPECT_EQ(ibv_query_qp(qp, &attr, IBV_QP_STATE, &init), 0);
  EXPECT_EQ(attr.qp_state, IBV_QPS_INIT);
  EXPECT_EQ(ibv_qp_to_qp_ex(qp), nullptr);
  EXPECT_EQ(ibv_destroy_cq(cq), EBUSY);
  EXPECT_EQ(ibv_destroy_qp(qp), 0);
  EXPECT_EQ(ibv_destroy_cq(cq), 0);
}

TEST(CResult, NoExceptionPassesIntoC) {
  EXPECT_EQ(minus_one_on_error([]() -> Result<void> { throw std::bad_alloc(); }), -1);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(errno_on_error([]() -> Result<void> { throw 1; }), EIO);
  EXPECT_EQ(null_on_error([]() -> Result<int*> { throw std::bad_alloc(); }), nullptr);
}

// --- imported ------------------------------------------------------------------------------------

class Import : public ObjectDoor {
 protected:
  Import() { context->cmd_fd = descriptor; }
  ~Import() override { ::close(descriptor); }

  [[nodiscard]] static bool is_open(int file) { return ::fcntl(file, F_GETFD) != -1; }

  const int descriptor = ::eventfd(0, EFD_CLOEXEC);
};

TEST_F(Import, OpensADeviceByADuplicateOfItsDescriptorWhichEndsWithIt) {
  const int duplicate = ::dup(descriptor);
  ibv_context* other = ibv_import_device(duplicate);
  ASSERT_NE(other, nullptr);
  EXPECT_NE(other, context);
  EXPECT_EQ(other->device, context->device);
  EXPECT_EQ(other->cmd_fd, duplicate);
  ibv_context* third = ibv_import_device(::dup(duplicate));
  ASSERT_NE(third, nullptr);

  EXPECT_EQ(ibv_close_device(other), 0);

  EXPECT_FALSE(is_open(duplicate));
  EXPECT_TRUE(is_open(descriptor));
  EXPECT_TRUE(is_open(third->cmd_fd));
  EXPECT_EQ(ibv_close_device(third), 0);
}

TEST_F(Import, RefusesDescriptorsOfNoOpenDevice) {
  EXPECT_EQ(ibv_import_device(-1), nullptr);
  EXPECT_EQ(errno, EINVAL);
  const int stranger = ::eventfd(0, EFD_CLOEXEC);

  EXPECT_EQ(ibv_import_device(stranger), nullptr);

  EXPECT_EQ(errno, EOPNOTSUPP);
  EXPECT_TRUE(is_open(stranger));
  ::close(stranger);
}

TEST_F(Import, FindsNothingByWrongHandlesAndNullPointers) {
  ibv_pd* other = ibv_alloc_pd(context);
  ibv_mr* mr = (ibv_reg_mr)(pd, buffer.data(), buffer.size(), IBV_ACCESS_LOCAL_WRITE);
  const auto is_einval = [](const void* made) {
    return made == nullptr && std::exchange(errno, 0) == EINVAL;
  };

  EXPECT_TRUE(is_einval(ibv_import_pd(nullptr, pd->handle)));
  EXPECT_TRUE(is_einval(ibv_import_pd(context, ~0u)));
  EXPECT_TRUE(is_einval(ibv_import_mr(nullptr, mr->handle)));
  EXPECT_TRUE(is_einval(ibv_import_mr(pd, ~0u)));
  EXPECT_TRUE(is_einval(ibv_import_mr(other, mr->handle))) << "it is of another domain";
  EXPECT_TRUE(is_einval(ibv_import_dm(nullptr, 0)));
  EXPECT_TRUE(is_einval(ibv_import_dm(context, ~0u)));
  ibv_unimport_pd(nullptr);
  ibv_unimport_mr(nullptr);
  ibv_unimport_dm(nullptr);

  EXPECT_EQ(ibv_dereg_mr(mr), 0);
  EXPECT_EQ(ibv_dealloc_pd(other), 0);
}

TEST_F(Import, AnImportedDomainIsTheOriginalWhichItKeeps) {
  ibv_context* other = ibv_import_device(::dup(descriptor));
  ibv_mr* mr = (ibv_reg_mr)(pd, buffer.data(), buffer.size(), IBV_ACCESS_LOCAL_WRITE);
  ibv_pd* imported = ibv_import_pd(other, pd->handle);
  ASSERT_NE(imported, nullptr);
  EXPECT_EQ(imported->context, other);
  ibv_mr* same = ibv_import_mr(imported, mr->handle);
  ASSERT_NE(same, nullptr);
  EXPECT_EQ(same->lkey, mr->lkey);
  EXPECT_EQ(same->rkey, mr->rkey);

  ibv_unimport_mr(same);
  EXPECT_EQ(ibv_dereg_mr(mr), 0) << "the region itself is still there";
  EXPECT_EQ(ibv_dealloc_pd(pd), EBUSY);
  ibv_unimport_pd(imported);

  EXPECT_EQ(ibv_close_device(other), 0);
}

TEST_F(Import, DeviceMemoryLivesUntilTheLastOfItsNamesIsFreed) {
  ibv_alloc_dm_attr attr{.length = 64, .log_align_req = 0, .comp_mask = 0};
  ibv_dm* memory = ibv_alloc_dm(context, &attr);
  ASSERT_NE(memory, nullptr);
  ASSERT_EQ(ibv_memcpy_to_dm(memory, 0, "abc", 4), 0);
  ibv_dm* imported = ibv_import_dm(context, memory->handle);
  ASSERT_NE(imported, nullptr);

  EXPECT_EQ(ibv_free_dm(memory), 0);

  EXPECT_EQ(ibv_memcpy_from_dm(buffer.data(), imported, 0, 4), 0);
  EXPECT_STREQ(buffer.data(), "abc");
  ibv_unimport_dm(imported);
}

}  // namespace
}  // namespace anyrdma::c_api
