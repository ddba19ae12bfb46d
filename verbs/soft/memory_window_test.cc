// Memory windows of both types, and the invalidation of their keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft {
namespace {

using ::testing::ElementsAre;
using testing::Side;
using Statuses = std::vector<ibv_wc_status>;

constexpr unsigned kRegionAccess =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_MW_BIND;
constexpr unsigned kWindowAccess = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

// b binds windows to its memory, a uses them.
class Windows : public testing::Pair {
 protected:
  Windows() { register_again(kRegionAccess); }
  ~Windows() override {
    if (window != nullptr) ibv_dealloc_mw(window);
  }

  void register_again(unsigned access) {
    b.hca->dereg_mr(b.mr).value();
    const auto start = reinterpret_cast<std::uintptr_t>(b.memory.data());
    b.mr = b.hca->reg_mr(b.pd, b.memory.data(), kMemory, start, access).value();
  }

  void open(ibv_mw_type type) {
    window = ibv_alloc_mw(b.pd, type);
    ASSERT_NE(window, nullptr);
    connect();
  }

  ibv_mw_bind_info part(std::size_t offset, std::uint64_t length,
                        unsigned access = kWindowAccess) const {
    return {b.mr, b.piece(offset, 0).addr, length, access};
  }

  int bind_1(const ibv_mw_bind_info& info, std::uint64_t id = 1) {
    ibv_mw_bind bind{.wr_id = id, .send_flags = IBV_SEND_SIGNALED, .bind_info = info};
    return ibv_bind_mw(b.qp, window, &bind);
  }

  int bind_2(const ibv_mw_bind_info& info, std::uint32_t key, std::uint64_t id = 1) {
    ibv_send_wr request{};
    request.wr_id = id;
    request.opcode = IBV_WR_BIND_MW;
    request.send_flags = IBV_SEND_SIGNALED;
    request.bind_mw.mw = window;
    request.bind_mw.rkey = key;
    request.bind_mw.bind_info = info;
    return b.post(request);
  }

  int invalidate(std::uint32_t key, unsigned flags = IBV_SEND_SIGNALED) {
    ibv_send_wr request{};
    request.opcode = IBV_WR_LOCAL_INV;
    request.send_flags = flags;
    request.invalidate_rkey = key;
    return b.post(request);
  }

  int send_with_invalidate(std::uint32_t key, std::uint32_t length) {
    ibv_sge list = a.piece(0, length);
    ibv_send_wr request{};
    request.wr_id = 5;
    request.sg_list = &list;
    request.num_sge = 1;
    request.opcode = IBV_WR_SEND_WITH_INV;
    request.send_flags = IBV_SEND_SIGNALED;
    request.invalidate_rkey = key;
    return a.post(request);
  }

  Statuses statuses_of_b() {
    settle();
    Statuses all;
    for (const ibv_wc& each : b.poll()) all.push_back(each.status);
    return all;
  }

  [[nodiscard]] std::uint64_t address(std::size_t offset) const { return b.piece(offset, 0).addr; }

  ibv_mw* window = nullptr;
};

// --- type 1 -------------------------------------------------------------------------------------

TEST_F(Windows, OfType1OpenWhatTheyAreBoundTo) {
  open(IBV_MW_TYPE_1);
  const std::uint32_t before = window->rkey;
  ASSERT_EQ(bind_1(part(100, 50), 77), 0);
  EXPECT_EQ(window->rkey, ibv_inc_rkey(before));
  settle();
  const auto done = b.poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(done[0].opcode, IBV_WC_BIND_MW);
  EXPECT_EQ(done[0].wr_id, 77u);

  a.fill(0, 50, 3);
  EXPECT_EQ(use(window->rkey, address(100), 50), IBV_WC_SUCCESS);
  EXPECT_TRUE(b.filled(100, 50, 3));
  EXPECT_EQ(use(window->rkey, address(100), 51), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Windows, OfType1CloseWhenBoundToNothing) {
  open(IBV_MW_TYPE_1);
  ASSERT_EQ(bind_1(part(0, 50)), 0);
  ASSERT_EQ(bind_1({nullptr, 0, 0, 0}), 0);
  EXPECT_EQ(statuses_of_b(), Statuses(2, IBV_WC_SUCCESS));
  EXPECT_EQ(use(window->rkey, address(0), 10), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Windows, OfType1MoveWithANewBindingAndTheOldKeyIsWrong) {
  open(IBV_MW_TYPE_1);
  ASSERT_EQ(bind_1(part(0, 50)), 0);
  const std::uint32_t old = window->rkey;
  ASSERT_EQ(bind_1(part(1000, 50)), 0);
  EXPECT_EQ(statuses_of_b(), Statuses(2, IBV_WC_SUCCESS));
  EXPECT_EQ(use(window->rkey, address(1000), 10), IBV_WC_SUCCESS);
  EXPECT_EQ(use(old, address(0), 10), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Windows, OfType1AreNotInvalidatedByRequest) {
  open(IBV_MW_TYPE_1);
  ASSERT_EQ(bind_1(part(0, 50)), 0);
  ASSERT_EQ(invalidate(window->rkey), 0);
  EXPECT_EQ(statuses_of_b(), (Statuses{IBV_WC_SUCCESS, IBV_WC_MW_BIND_ERR}));
}

TEST_F(Windows, OfType2AreNotBoundByTheCallForType1) {
  open(IBV_MW_TYPE_2);
  EXPECT_EQ(bind_1(part(0, 50)), EINVAL);
}

// --- type 2 -------------------------------------------------------------------------------------

TEST_F(Windows, OfType2HaveAKeyOfTheConsumersChoice) {
  open(IBV_MW_TYPE_2);
  const std::uint32_t key = (window->rkey & ~0xffu) | 0x42;
  ASSERT_EQ(bind_2(part(0, 100), key), 0);
  EXPECT_EQ(statuses_of_b(), Statuses{IBV_WC_SUCCESS});
  a.fill(0, 100, 9);
  EXPECT_EQ(use(key, address(0), 100), IBV_WC_SUCCESS);
  EXPECT_TRUE(b.filled(0, 100, 9));
  EXPECT_EQ(use(key, address(0), 100, IBV_WR_RDMA_READ), IBV_WC_SUCCESS);
}

TEST_F(Windows, OfType2TakeOnlyTheLowByteOfTheKeyThatIsAskedFor) {
  open(IBV_MW_TYPE_2);
  const std::uint32_t key = (window->rkey & ~0xffu) | 0x42;
  ASSERT_EQ(bind_2(part(0, 100), 0x12345642), 0);
  EXPECT_EQ(statuses_of_b(), Statuses{IBV_WC_SUCCESS});
  a.fill(0, 100, 9);
  EXPECT_EQ(use(key, address(0), 100), IBV_WC_SUCCESS);
  EXPECT_TRUE(b.filled(0, 100, 9));
  EXPECT_EQ(use(0x12345642, address(0), 100), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Windows, OfType2MustBeInvalidatedBeforeTheyAreBoundAgain) {
  open(IBV_MW_TYPE_2);
  const std::uint32_t key = ibv_inc_rkey(window->rkey);
  ASSERT_EQ(bind_2(part(0, 100), key), 0);
  ASSERT_EQ(invalidate(key), 0);
  ASSERT_EQ(bind_2(part(50, 100), ibv_inc_rkey(key)), 0);
  ASSERT_EQ(bind_2(part(0, 100), key), 0);
  EXPECT_EQ(statuses_of_b(),
            (Statuses{IBV_WC_SUCCESS, IBV_WC_SUCCESS, IBV_WC_SUCCESS, IBV_WC_MW_BIND_ERR}));
}

TEST_F(Windows, AnInvalidatedKeyOpensNothing) {
  open(IBV_MW_TYPE_2);
  const std::uint32_t key = ibv_inc_rkey(window->rkey);
  ASSERT_EQ(bind_2(part(0, 100), key), 0);
  ASSERT_EQ(invalidate(key), 0);
  settle();
  const auto done = b.poll();
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[1].opcode, IBV_WC_LOCAL_INV);
  EXPECT_EQ(use(key, address(0), 10), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Windows, ThatAreZeroBasedCountFromTheirOwnStart) {
  open(IBV_MW_TYPE_2);
  const std::uint32_t key = ibv_inc_rkey(window->rkey);
  ASSERT_EQ(bind_2(part(1000, 100, kWindowAccess | IBV_ACCESS_ZERO_BASED), key), 0);
  EXPECT_EQ(statuses_of_b(), Statuses{IBV_WC_SUCCESS});
  a.fill(0, 10, 4);
  EXPECT_EQ(use(key, 90, 10), IBV_WC_SUCCESS);
  EXPECT_TRUE(b.filled(1090, 10, 4));
  EXPECT_EQ(use(key, 91, 10), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Windows, OfType2AreOpenToTheirQueuePairOnly) {
  open(IBV_MW_TYPE_2);
  const std::uint32_t key = ibv_inc_rkey(window->rkey);
  ASSERT_EQ(bind_2(part(0, 100), key), 0);
  EXPECT_EQ(statuses_of_b(), Statuses{IBV_WC_SUCCESS});
  ibv_qp* const first_a = a.qp;
  ibv_qp* const first_b = b.qp;
  connect();  // a second connection
  EXPECT_EQ(use(key, address(0), 10), IBV_WC_REM_ACCESS_ERR);
  for (Side* side : {&a, &b}) side->hca->destroy_qp(side->qp).value();
  a.qp = first_a;
  b.qp = first_b;
  EXPECT_EQ(use(key, address(0), 10), IBV_WC_SUCCESS);
}

TEST_F(Windows, OfType2EndWithTheirQueuePair) {
  open(IBV_MW_TYPE_2);
  ASSERT_EQ(bind_2(part(0, 100), ibv_inc_rkey(window->rkey)), 0);
  EXPECT_EQ(statuses_of_b(), Statuses{IBV_WC_SUCCESS});
  EXPECT_FALSE(b.hca->dereg_mr(b.mr).has_value());
  b.hca->destroy_qp(b.qp).value();
  b.qp = nullptr;
  EXPECT_TRUE(b.hca->dereg_mr(b.mr).has_value());
  b.mr = nullptr;
}

TEST_F(Windows, OfType2CannotBeBoundToNothing) {
  open(IBV_MW_TYPE_2);
  ASSERT_EQ(bind_2(part(0, 0), ibv_inc_rkey(window->rkey)), 0);
  EXPECT_EQ(statuses_of_b(), Statuses{IBV_WC_MW_BIND_ERR});
}

// --- what a binding must not do -----------------------------------------------------------------

struct BadBinding {
  const char* name;
  unsigned region_access;
  unsigned window_access;
  std::uint64_t length;
};

class BadBindings : public Windows, public ::testing::WithParamInterface<BadBinding> {};

TEST_P(BadBindings, FailWithABindErrorAndOpenNothing) {
  register_again(GetParam().region_access);
  open(IBV_MW_TYPE_2);
  const std::uint32_t key = ibv_inc_rkey(window->rkey);
  ASSERT_EQ(bind_2(part(0, GetParam().length, GetParam().window_access), key), 0);
  EXPECT_EQ(statuses_of_b(), Statuses{IBV_WC_MW_BIND_ERR});
  EXPECT_EQ(b.qp->state, IBV_QPS_ERR);
  EXPECT_TRUE(b.hca->dereg_mr(b.mr).has_value());  // nothing is bound to it
  b.mr = nullptr;
}

INSTANTIATE_TEST_SUITE_P(
    Rules, BadBindings,
    ::testing::Values(
        BadBinding{"RegionThatAllowsNone", kRegionAccess & ~unsigned{IBV_ACCESS_MW_BIND},
                   kWindowAccess, 9},
        BadBinding{"WritableWindowOnReadOnlyRegion", IBV_ACCESS_MW_BIND, IBV_ACCESS_REMOTE_WRITE,
                   9},
        BadBinding{"AtomicWindowOnReadOnlyRegion", IBV_ACCESS_MW_BIND, IBV_ACCESS_REMOTE_ATOMIC, 9},
        BadBinding{"NoRightOfAWindow", kRegionAccess, IBV_ACCESS_MW_BIND, 9},
        BadBinding{"BeyondTheEnd", kRegionAccess, kWindowAccess, 256 * 1024 + 1},
        BadBinding{"LengthThatWrapsAround", kRegionAccess, kWindowAccess, ~std::uint64_t{0}}),
    [](const auto& each) { return each.param.name; });

TEST_F(Windows, OfAnotherProtectionDomainCannotBeBound) {
  ibv_pd* other = b.hca->alloc_pd(b.context).value();
  window = ibv_alloc_mw(other, IBV_MW_TYPE_2);
  ASSERT_NE(window, nullptr);
  connect();
  ASSERT_EQ(bind_2(part(0, 10), ibv_inc_rkey(window->rkey)), 0);
  EXPECT_EQ(statuses_of_b(), Statuses{IBV_WC_MW_BIND_ERR});
  EXPECT_EQ(b.hca->dealloc_pd(other).error().value(), EBUSY);
  ASSERT_EQ(ibv_dealloc_mw(window), 0);
  window = nullptr;
  b.hca->dealloc_pd(other).value();
}

TEST_F(Windows, AndRegionsThatAreGoneWhenTheirTurnComesAreBindErrors) {
  open(IBV_MW_TYPE_2);
  ibv_mr* mr = b.hca->reg_mr(b.pd, b.memory.data(), 100, 0, kRegionAccess).value();
  ASSERT_EQ(b.post_send(IBV_WR_RDMA_READ, 1, 0, 10, &a, 0), 0);
  ibv_mw_bind_info info{mr, 0, 10, kWindowAccess};
  ibv_send_wr request{};
  request.opcode = IBV_WR_BIND_MW;
  request.send_flags = IBV_SEND_FENCE;  // waits for the READ
  request.bind_mw.mw = window;
  request.bind_mw.rkey = ibv_inc_rkey(window->rkey);
  request.bind_mw.bind_info = info;
  ASSERT_EQ(b.post(request), 0);
  b.hca->dereg_mr(mr).value();
  EXPECT_EQ(statuses_of_b(), (Statuses{IBV_WC_SUCCESS, IBV_WC_MW_BIND_ERR}));
}

TEST_F(Windows, ABindingThatNamesNothingIsRefused) {
  open(IBV_MW_TYPE_2);
  EXPECT_EQ(bind_2({nullptr, 0, 10, 0}, window->rkey), EINVAL);
  ibv_send_wr request{};
  request.opcode = IBV_WR_BIND_MW;
  EXPECT_EQ(b.post(request), EINVAL);
}

TEST_F(Windows, ARegionWithWindowsStays) {
  open(IBV_MW_TYPE_1);
  ASSERT_EQ(bind_1(part(0, 50)), 0);
  settle();
  EXPECT_EQ(b.hca->dereg_mr(b.mr).error().value(), EBUSY);
  ASSERT_EQ(ibv_dealloc_mw(window), 0);  // a bound window may go
  window = nullptr;
  b.hca->dereg_mr(b.mr).value();
  b.mr = nullptr;
}

TEST_F(Windows, AWindowsKeyIsNoLocalKey) {
  open(IBV_MW_TYPE_1);
  ASSERT_EQ(bind_1(part(0, 50, kWindowAccess | IBV_ACCESS_LOCAL_WRITE)), 0);
  settle();
  ibv_sge list = b.piece(0, 10);
  list.lkey = window->rkey;
  ibv_send_wr request{};
  request.sg_list = &list;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  ASSERT_EQ(b.post(request), 0);
  EXPECT_EQ(statuses_of_b(), (Statuses{IBV_WC_SUCCESS, IBV_WC_LOC_PROT_ERR}));
}

TEST_F(Windows, CanBeTooManyOrOfNoType) {
  EXPECT_EQ(ibv_alloc_mw(b.pd, static_cast<ibv_mw_type>(3)), nullptr);
  EXPECT_EQ(errno, EINVAL);
  HcaConfig config;
  config.max_mw = 1;
  Side c(runtime, random, pool, 3, 0x300, config);
  ibv_mw* first = ibv_alloc_mw(c.pd, IBV_MW_TYPE_1);
  EXPECT_EQ(ibv_alloc_mw(c.pd, IBV_MW_TYPE_1), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(c.hca->census().memory_windows, 1u);
  EXPECT_EQ(ibv_dealloc_mw(first), 0);
}

TEST_F(Windows, ADeviceCanBeWithoutThem) {
  HcaConfig config;
  config.max_mw = 0;
  Side c(runtime, random, pool, 3, 0x300, config);
  EXPECT_EQ(ibv_alloc_mw(c.pd, IBV_MW_TYPE_1), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  ibv_device_attr attr{};
  c.hca->query_device(c.context, &attr).value();
  EXPECT_EQ(attr.device_cap_flags & IBV_DEVICE_MEM_WINDOW, 0u);
}

// --- send with invalidate -----------------------------------------------------------------------

TEST_F(Windows, AreClosedByASendThatNamesTheirKey) {
  open(IBV_MW_TYPE_2);
  const std::uint32_t key = ibv_inc_rkey(window->rkey);
  ASSERT_EQ(bind_2(part(0, 100), key), 0);
  ASSERT_EQ(b.post_recv(8, 1000, 700), 0);
  a.fill(0, 600, 5);
  ASSERT_EQ(send_with_invalidate(key, 600), 0);  // several packets
  settle();
  const auto done = b.poll();
  ASSERT_EQ(done.size(), 2u);
  EXPECT_EQ(done[1].opcode, IBV_WC_RECV);
  EXPECT_EQ(done[1].wc_flags, unsigned{IBV_WC_WITH_INV});
  EXPECT_EQ(done[1].invalidated_rkey, key);
  EXPECT_EQ(done[1].byte_len, 600u);
  EXPECT_TRUE(b.filled(1000, 600, 5));
  const auto sent = a.poll();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].opcode, IBV_WC_SEND);
  EXPECT_EQ(use(key, address(0), 10), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Windows, ASendThatInvalidatesWhatIsNoneFailsOnBothSides) {
  open(IBV_MW_TYPE_2);
  ASSERT_EQ(b.post_recv(8, 1000, 100), 0);
  int answers = 0;
  wire = [&](const Packet& packet) {
    answers += row_of(packet).operation == roce::Operation::kAcknowledge ? 1 : 0;
    return 1;
  };
  ASSERT_EQ(send_with_invalidate(b.mr->rkey, 10), 0);  // a region that the kernel registered
  EXPECT_EQ(statuses_of_b(), Statuses{IBV_WC_REM_INV_REQ_ERR});
  EXPECT_EQ(answers, 0) << "neither an acknowledgement nor a NAK";
  const auto sent = a.poll();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].status, IBV_WC_RETRY_EXC_ERR);
}

TEST_F(Windows, ASendWithInvalidateThatIsRepeatedIsNotDoneAgain) {
  open(IBV_MW_TYPE_2);
  const std::uint32_t key = ibv_inc_rkey(window->rkey);
  ASSERT_EQ(bind_2(part(0, 100), key), 0);
  ASSERT_EQ(b.post_recv(8, 1000, 100), 0);
  int lost = 2;
  wire = [&](const Packet& packet) {
    return row_of(packet).operation == roce::Operation::kAcknowledge && lost-- > 0 ? 0 : 1;
  };
  ASSERT_EQ(send_with_invalidate(key, 10), 0);
  EXPECT_EQ(statuses_of_b(), (Statuses{IBV_WC_SUCCESS, IBV_WC_SUCCESS}));
  EXPECT_EQ(a.poll().size(), 1u);
}

// --- order --------------------------------------------------------------------------------------

TEST_F(Windows, LocalWorkCompletesInOrderWithTheRest) {
  open(IBV_MW_TYPE_2);
  const std::uint32_t key = ibv_inc_rkey(window->rkey);
  wire = [turn = 0u](const Packet&) mutable {
    turn = turn * 1103515245u + 12345u;
    return turn >> 29 == 0 ? 0 : 1;
  };
  ASSERT_EQ(b.post_send(IBV_WR_RDMA_WRITE, 1, 0, 900, &a, 0), 0);
  ASSERT_EQ(bind_2(part(0, 100), key, 2), 0);
  ASSERT_EQ(b.post_send(IBV_WR_RDMA_READ, 3, 2000, 900, &a, 0), 0);
  ASSERT_EQ(invalidate(key, 0), 0);  // silent
  ASSERT_EQ(bind_2(part(0, 100), key, 5), 0);
  ASSERT_EQ(b.post_send(IBV_WR_RDMA_WRITE, 6, 0, 900, &a, 0), 0);
  settle();
  std::vector<std::uint64_t> order;
  for (const ibv_wc& each : b.poll()) {
    EXPECT_EQ(each.status, IBV_WC_SUCCESS);
    order.push_back(each.wr_id);
  }
  EXPECT_THAT(order, ElementsAre(1u, 2u, 3u, 5u, 6u));
}

TEST_F(Windows, LocalWorkIsFlushedInOrder) {
  open(IBV_MW_TYPE_2);
  ASSERT_EQ(b.modify(IBV_QPS_ERR, 0, {}), 0);
  ASSERT_EQ(bind_2(part(0, 100), ibv_inc_rkey(window->rkey)), 0);
  ASSERT_EQ(invalidate(1), 0);
  EXPECT_EQ(statuses_of_b(), Statuses(2, IBV_WC_WR_FLUSH_ERR));
}

}  // namespace
}  // namespace anyrdma::verbs::soft
