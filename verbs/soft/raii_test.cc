// The RAII layer over the C objects, on the software HCA.
#include <gtest/gtest.h>

#include <cerrno>
#include <utility>
#include <vector>

#include "verbs/completion_queue.h"
#include "verbs/context.h"
#include "verbs/memory.h"
#include "verbs/queue_pair.h"
#include "verbs/soft/hca.h"
#include "verbs/soft/testing/fake_runtime.h"

namespace anyrdma::verbs {
namespace {

class Objects : public ::testing::Test {
 protected:
  soft::testing::FakeRuntime runtime_;
  soft::testing::FakeRandom random_;
  soft::PacketPool pool_;
  std::unique_ptr<soft::Hca> hca_ = soft::Hca::create(runtime_, random_, pool_, {});
  Context context_ = Context::open(*hca_, hca_->device()).value();
};

TEST_F(Objects, NullArgumentsAreRefusedEverywhere) {
  EXPECT_EQ(Context::open(*hca_, nullptr).error().value(), EINVAL);
  EXPECT_EQ(ProtectionDomain::create(nullptr).error().value(), EINVAL);
  EXPECT_EQ(MemoryRegion::create(nullptr, nullptr, 0, 0).error().value(), EINVAL);
  EXPECT_EQ(CompletionChannel::create(nullptr).error().value(), EINVAL);
  EXPECT_EQ(CompletionQueue::create(nullptr, 1).error().value(), EINVAL);
  EXPECT_EQ(QueuePair::create(nullptr, nullptr).error().value(), EINVAL);
  EXPECT_EQ(QueuePair().post_send(nullptr).error().value(), EINVAL);
  EXPECT_EQ(QueuePair().modify(nullptr, 0).error().value(), EINVAL);
  EXPECT_EQ(Context().query_device().error().value(), EINVAL);
  EXPECT_EQ(CompletionQueue().poll({}).error().value(), EINVAL);
}

TEST_F(Objects, AMovedFromHandleIsEmptyAndDestroysNothing) {
  auto pd = ProtectionDomain::create(context_.get()).value();
  ibv_pd* const raw = pd.get();
  ProtectionDomain other = std::move(pd);
  EXPECT_FALSE(pd);  // NOLINT(bugprone-use-after-move): its state is the subject
  EXPECT_EQ(other.get(), raw);
  EXPECT_EQ(pd.destroy().error().value(), EINVAL);
}

TEST_F(Objects, ADomainInUseIsBusyUntilItsRegionIsGone) {
  std::vector<char> memory(100);
  auto pd = ProtectionDomain::create(context_.get()).value();
  auto mr = MemoryRegion::create(pd.get(), memory.data(), 100, IBV_ACCESS_LOCAL_WRITE).value();
  EXPECT_EQ(pd.destroy().error().value(), EBUSY);
  EXPECT_TRUE(pd);
  EXPECT_TRUE(mr.destroy().has_value());
  EXPECT_TRUE(pd.destroy().has_value());
}

TEST_F(Objects, APortThatSaysItIsInfinibandHasALidAndAddressesNeedNoGrh) {
  const auto ib =
      soft::Hca::create(runtime_, random_, pool_, {.link_layer = IBV_LINK_LAYER_INFINIBAND});
  const Context context = Context::open(*ib, ib->device()).value();
  auto pd = ProtectionDomain::create(context.get()).value();
  ibv_port_attr port{};
  ASSERT_TRUE(ib->query_port(context.get(), 1, &port).has_value());
  EXPECT_EQ(port.link_layer, IBV_LINK_LAYER_INFINIBAND);
  EXPECT_EQ(port.flags & IBV_QPF_GRH_REQUIRED, 0);
  EXPECT_EQ(port.lid, 1);

  const auto error_of = [&](std::uint16_t lid) {
    ibv_ah_attr address{};
    address.dlid = lid;
    address.port_num = 1;
    const auto ah = ib->create_ah(pd.get(), address);
    return ah ? ib->destroy_ah(*ah).value(), 0 : ah.error().value();
  };
  EXPECT_EQ(error_of(port.lid), EINVAL);  // its first GID is what the LID stands for
  ibv_gid gid{};
  gid.raw[0] = 0xfe;
  gid.raw[1] = 0x80;
  gid.raw[15] = 1;
  ib->set_gid(0, gid);
  EXPECT_EQ(error_of(port.lid), 0);
  EXPECT_EQ(error_of(port.lid + 1), 0);  // packets to a LID that no port has are lost
  EXPECT_EQ(error_of(0), EINVAL);
  EXPECT_EQ(error_of(0xc000), EINVAL);  // a group's
  EXPECT_EQ(ib->query_gid(context.get(), 1, 0)->gid_type, IBV_GID_TYPE_IB);
}

TEST_F(Objects, QueuePairsReportTheirGrantedCapabilities) {
  auto pd = ProtectionDomain::create(context_.get()).value();
  auto cq = CompletionQueue::create(context_.get(), 10).value();
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = cq.get();
  init.qp_type = IBV_QPT_RC;
  init.cap.max_send_wr = 5;
  auto qp = QueuePair::create(pd.get(), &init).value();
  const auto queried = qp.query(IBV_QP_CAP).value();
  EXPECT_EQ(queried.attr.cap.max_send_wr, 5u);
  EXPECT_EQ(queried.attr.qp_state, IBV_QPS_RESET);
  EXPECT_EQ(cq.destroy().error().value(), EBUSY);
}

TEST_F(Objects, TheContextAnswersQueries) {
  EXPECT_EQ(context_.query_device()->phys_port_cnt, 1);
  EXPECT_EQ(context_.query_port(1)->state, IBV_PORT_ACTIVE);
  EXPECT_EQ(context_.query_port(2).error().value(), EINVAL);
  EXPECT_EQ(context_.query_gid(1, 0).error().value(), ENODATA);
  EXPECT_EQ(context_.query_gid(1, 16).error().value(), EINVAL);
  ibv_port_attr port{};
  // What the inline functions of verbs.h call; they themselves would need a libibverbs to link.
  verbs_context* const operations = verbs_get_ctx(context_.get());
  ASSERT_NE(operations, nullptr);
  EXPECT_EQ(operations->query_port(context_.get(), 1, &port, sizeof port), 0);
  EXPECT_EQ(port.gid_tbl_len, 16);
  ibv_device_attr_ex extended{};
  EXPECT_EQ(operations->query_device_ex(context_.get(), nullptr, &extended, sizeof extended), 0);
  EXPECT_EQ(extended.phys_port_cnt_ex, 1u);
}

TEST_F(Objects, ADeviceThatIsGoneRefusesWithEio) {
  auto pd = ProtectionDomain::create(context_.get()).value();
  runtime_.enter();
  hca_->remove();
  runtime_.leave();
  EXPECT_EQ(context_.next_event()->event_type, IBV_EVENT_DEVICE_FATAL);
  EXPECT_EQ(ProtectionDomain::create(context_.get()).error().value(), EIO);
  EXPECT_EQ(context_.query_device().error().value(), EIO);
  EXPECT_TRUE(pd.destroy().has_value());
}

}  // namespace
}  // namespace anyrdma::verbs
