// Enhanced connection establishment: what a queue pair offers, and what its peer leaves of it.
#include <gtest/gtest.h>

#include <cerrno>

#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft {
namespace {

constexpr std::uint32_t kVendor = 0x0002c9;

class Ece : public ::testing::Test {
 protected:
  ~Ece() override {
    hca->destroy_qp(qp).value();
    hca->destroy_cq(cq).value();
    hca->dealloc_pd(pd).value();
    hca->close_device(context).value();
  }
  int set(std::uint32_t vendor, std::uint32_t options, std::uint32_t comp_mask = 0) {
    const auto result = hca->set_ece(qp, {vendor, options, comp_mask});
    return result ? 0 : result.error().value();
  }
  std::uint32_t options() { return hca->query_ece(qp).value().options; }
  int move(ibv_qp_state state, int mask) {
    ibv_qp_attr attr{};
    attr.qp_state = state;
    attr.port_num = 1;
    const auto result = hca->modify_qp(qp, &attr, mask | IBV_QP_STATE);
    return result ? 0 : result.error().value();
  }

  ibv_qp* make_qp() {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.qp_type = IBV_QPT_RC;
    return hca->create_qp(pd, &init).value();
  }
  static HcaConfig config() {
    HcaConfig config;
    config.ece = {kVendor, 0b1011};
    return config;
  }

  testing::FakeRuntime runtime;
  testing::FakeRandom random;
  PacketPool pool;
  std::unique_ptr<Hca> hca = Hca::create(runtime, random, pool, config());
  ibv_context* context = hca->open_device(hca->device()).value();
  ibv_pd* pd = hca->alloc_pd(context).value();
  ibv_cq* cq = hca->create_cq(context, 10, nullptr, nullptr, 0).value();
  ibv_qp* qp = make_qp();
};

TEST_F(Ece, FreshQueuePairOffersAllOptionsOfTheDevice) {
  const ibv_ece ece = hca->query_ece(qp).value();

  EXPECT_EQ(ece.vendor_id, kVendor);
  EXPECT_EQ(ece.options, 0b1011u);
  EXPECT_EQ(ece.comp_mask, 0u);
}

TEST_F(Ece, OnlyOptionsOfBothSidesRemain) {
  EXPECT_EQ(set(kVendor, 0b0110), 0);

  EXPECT_EQ(options(), 0b0010u);
}

TEST_F(Ece, AnotherVendorOrUnknownFieldsAreRefused) {
  EXPECT_EQ(set(kVendor + 1, 1), EINVAL);
  EXPECT_EQ(set(kVendor, 1, 1), EINVAL);
  EXPECT_EQ(options(), 0b1011u);
}

TEST_F(Ece, IsSettledBeforeThePeerIsKnown) {
  ASSERT_EQ(move(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS), 0);
  EXPECT_EQ(set(kVendor, 1), 0);
  ASSERT_EQ(move(IBV_QPS_ERR, 0), 0);

  EXPECT_EQ(set(kVendor, 1), EINVAL);
  EXPECT_EQ(options(), 1u);
}

TEST_F(Ece, NextQueuePairOffersEverythingAgain) {
  ASSERT_EQ(set(kVendor, 0), 0);
  hca->destroy_qp(qp).value();
  qp = make_qp();

  EXPECT_EQ(options(), 0b1011u);
}

TEST_F(Ece, DeviceWithoutOptionsDoesNotSupportIt) {
  const auto plain = Hca::create(runtime, random, pool, {});
  ibv_qp_init_attr init{};
  ibv_context* other = plain->open_device(plain->device()).value();
  init.send_cq = init.recv_cq = plain->create_cq(other, 10, nullptr, nullptr, 0).value();
  init.qp_type = IBV_QPT_RC;
  ibv_qp* without = plain->create_qp(plain->alloc_pd(other).value(), &init).value();

  EXPECT_EQ(plain->query_ece(without).error().value(), EOPNOTSUPP);
  EXPECT_EQ(plain->set_ece(without, {kVendor, 1, 0}).error().value(), EOPNOTSUPP);
}

TEST_F(Ece, EndsWithTheDevice) {
  hca->remove();

  EXPECT_EQ(set(kVendor, 1), EIO);
  EXPECT_EQ(hca->query_ece(qp).error().value(), EIO);
}

}  // namespace
}  // namespace anyrdma::verbs::soft
