// Memory regions: what may be registered, changed, paged on demand, and memory of the device.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::ConnectionOptions;
using ::testing::ElementsAre;
using testing::Side;

constexpr unsigned kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
constexpr std::size_t kPage = 4096;

/// Pages of the process that a test may take away.
class Pages {
 public:
  explicit Pages(std::size_t count, int protection = PROT_READ | PROT_WRITE)
      : bytes_(count * kPage),
        start_(::mmap(nullptr, bytes_, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
  ~Pages() { unmap(); }
  Pages(const Pages&) = delete;
  Pages& operator=(const Pages&) = delete;
  [[nodiscard]] std::uint8_t* data() const { return static_cast<std::uint8_t*>(start_); }
  void unmap() { ::munmap(start_, bytes_); }
  void unmap_page(std::size_t index) { ::munmap(data() + index * kPage, kPage); }

 private:
  std::size_t bytes_;
  void* start_;
};

class Regions : public testing::Pair {
 protected:
  [[nodiscard]] Result<ibv_mr*> register_at(void* at, std::size_t length, unsigned access) {
    return b.hca->reg_mr(b.pd, at, length, reinterpret_cast<std::uintptr_t>(at), access);
  }
  int error_of(void* at, std::size_t length, unsigned access) {
    const auto mr = register_at(at, length, access);
    if (!mr) return mr.error().value();
    b.hca->dereg_mr(*mr).value();
    return 0;
  }
  int change(int flags, ibv_pd* pd, void* at, std::size_t length, int access) {
    const auto changed = b.hca->rereg_mr(b.mr, flags, pd, at, length, access);
    return changed ? 0 : changed.error().value();
  }

  // Without the library's function for those who cannot be asked.
  static ibv_device_attr_ex attributes(ibv_context* context) {
    ibv_device_attr_ex attr{};
    const verbs_context* ops = verbs_get_ctx(context);
    EXPECT_EQ(ops->query_device_ex(context, nullptr, &attr, sizeof attr), 0);
    return attr;
  }
  static std::uint64_t number(const void* at) { return reinterpret_cast<std::uintptr_t>(at); }
};

// --- registration -------------------------------------------------------------------------------

TEST_F(Regions, OfMemoryThatIsNotThereAreFaults) {
  Pages pages(3);
  pages.unmap_page(1);
  EXPECT_EQ(error_of(pages.data(), 3 * kPage, kAll), EFAULT);
  EXPECT_EQ(error_of(pages.data(), kPage + 1, 0), EFAULT);
  EXPECT_EQ(error_of(pages.data(), kPage, kAll), 0);
}

TEST_F(Regions, ThatWouldWriteReadOnlyMemoryAreFaults) {
  Pages pages(1, PROT_READ);
  EXPECT_EQ(error_of(pages.data(), kPage, kAll), EFAULT);
  EXPECT_EQ(error_of(pages.data(), kPage, IBV_ACCESS_REMOTE_READ), 0);
}

TEST_F(Regions, AccessFlagsAreHeldToTheirRules) {
  void* const at = b.memory.data();
  EXPECT_EQ(error_of(at, 10, IBV_ACCESS_REMOTE_WRITE), EINVAL);
  EXPECT_EQ(error_of(at, 10, IBV_ACCESS_REMOTE_ATOMIC), EINVAL);
  EXPECT_EQ(error_of(at, 10, 1u << 12), EINVAL);
  EXPECT_EQ(error_of(at, 10, kAll | IBV_ACCESS_RELAXED_ORDERING), 0);
  EXPECT_EQ(error_of(at, 10, kAll | (1u << 25)), 0);  // optional ones that nobody knows
  EXPECT_EQ(error_of(at, std::numeric_limits<std::size_t>::max(), 0), EINVAL);
}

TEST_F(Regions, CountFromWhereTheApplicationSays) {
  ibv_mr* moved = b.hca->reg_mr(b.pd, b.memory.data(), 100, 0x5000, kAll).value();
  ibv_mr* zero = register_at(b.memory.data() + 200, 100, kAll | IBV_ACCESS_ZERO_BASED).value();
  connect();
  a.fill(0, 10, 3);
  EXPECT_EQ(use(moved->rkey, 0x5000 + 90, 10), IBV_WC_SUCCESS);
  EXPECT_TRUE(b.filled(90, 10, 3));
  EXPECT_EQ(use(zero->rkey, 0, 10), IBV_WC_SUCCESS);
  EXPECT_TRUE(b.filled(200, 10, 3));
  EXPECT_EQ(use(zero->rkey, number(b.memory.data() + 200), 10), IBV_WC_REM_ACCESS_ERR);
  b.hca->dereg_mr(moved).value();
  b.hca->dereg_mr(zero).value();
}

TEST_F(Regions, AnAddressWhoseEndWrapsAroundIsRefused) {
  ibv_mr* top = b.hca->reg_mr(b.pd, b.memory.data(), 100, ~std::uint64_t{0} - 200, kAll).value();
  connect();
  EXPECT_EQ(use(top->rkey, ~std::uint64_t{0} - 5, 100), IBV_WC_REM_ACCESS_ERR);
  b.hca->dereg_mr(top).value();
}

// --- every operation under every rule -----------------------------------------------------------

struct Rule {
  const char* name;
  // Breaks it: the request, what b has registered, and what a has.
  std::function<void(ibv_send_wr&, ibv_sge&, ibv_mr& there, ibv_mr& here, ibv_mr& foreign)> breaks;
  ibv_wc_status status;
};

std::uint32_t& remote_key(ibv_send_wr& wr) {
  const bool atomic =
      wr.opcode == IBV_WR_ATOMIC_CMP_AND_SWP || wr.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD;
  return atomic ? wr.wr.atomic.rkey : wr.wr.rdma.rkey;
}

const Rule kRules[] = {
    {"PeersOldKey", [](auto& wr, auto&, auto&, auto&, auto&) { remote_key(wr) ^= 1; },
     IBV_WC_REM_ACCESS_ERR},
    {"PeersKeyOfNothing", [](auto& wr, auto&, auto&, auto&, auto&) { remote_key(wr) = 0xffffff00; },
     IBV_WC_REM_ACCESS_ERR},
    {"PeersOtherDomain",
     [](auto& wr, auto&, auto&, auto&, auto& foreign) { remote_key(wr) = foreign.rkey; },
     IBV_WC_REM_ACCESS_ERR},
    {"PeersEnd",
     [](auto& wr, auto&, auto& there, auto&, auto&) { wr.wr.rdma.remote_addr += there.length; },
     IBV_WC_REM_ACCESS_ERR},
    {"PeersBeginning", [](auto& wr, auto&, auto&, auto&, auto&) { wr.wr.rdma.remote_addr -= 8; },
     IBV_WC_REM_ACCESS_ERR},
    {"PeersLastAddress",
     [](auto& wr, auto&, auto&, auto&, auto&) { wr.wr.rdma.remote_addr = ~std::uint64_t{7}; },
     IBV_WC_REM_ACCESS_ERR},
    {"OwnOldKey", [](auto&, auto& sge, auto&, auto&, auto&) { sge.lkey ^= 1; },
     IBV_WC_LOC_PROT_ERR},
    {"OwnEnd", [](auto&, auto& sge, auto&, auto& here, auto&) { sge.addr += here.length - 4; },
     IBV_WC_LOC_PROT_ERR},
    {"OwnLastAddress", [](auto&, auto& sge, auto&, auto&, auto&) { sge.addr = ~std::uint64_t{3}; },
     IBV_WC_LOC_PROT_ERR},
};

constexpr ibv_wr_opcode kOneSided[] = {
    IBV_WR_RDMA_WRITE,         IBV_WR_RDMA_WRITE_WITH_IMM,  IBV_WR_RDMA_READ,
    IBV_WR_ATOMIC_CMP_AND_SWP, IBV_WR_ATOMIC_FETCH_AND_ADD, IBV_WR_ATOMIC_WRITE};

class Rules : public Regions,
              public ::testing::WithParamInterface<std::tuple<ibv_wr_opcode, Rule>> {};

TEST_P(Rules, WhoBreaksOneIsToldAndNothingIsTouched) {
  const auto& [opcode, rule] = GetParam();
  b.hca->dereg_mr(b.mr).value();
  b.mr = register_at(b.memory.data() + 64, 64, kAll | IBV_ACCESS_REMOTE_ATOMIC).value();
  ibv_pd* other = b.hca->alloc_pd(b.context).value();
  ibv_mr* foreign = b.hca
                        ->reg_mr(other, b.memory.data() + 64, 64, number(b.memory.data() + 64),
                                 kAll | IBV_ACCESS_REMOTE_ATOMIC)
                        .value();
  ConnectionOptions options;
  options.access |= IBV_ACCESS_REMOTE_ATOMIC;
  connect(options);
  ASSERT_EQ(b.post_recv(1, 64, 8), 0);
  a.fill(0, 8, 9);
  const auto before = std::pair(a.memory, b.memory);
  ibv_sge list = a.piece(0, 8);
  ibv_send_wr request{};
  request.sg_list = &list;
  request.num_sge = 1;
  request.opcode = opcode;
  request.wr.rdma.remote_addr = number(b.memory.data() + 64);
  remote_key(request) = b.mr->rkey;
  rule.breaks(request, list, *b.mr, *a.mr, *foreign);
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(a.qp, &request, &bad), 0);
  settle();
  const auto done = a.poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, rule.status);
  if (rule.status == IBV_WC_REM_ACCESS_ERR && opcode == IBV_WR_RDMA_WRITE_WITH_IMM) {
    // The receive says it (IBTA vol 1, 11.6.2).
    const auto received = b.poll();
    ASSERT_EQ(received.size(), 1u);
    EXPECT_EQ(received[0].status, IBV_WC_LOC_ACCESS_ERR);
    EXPECT_THAT(b.events(), ElementsAre());
  } else if (rule.status == IBV_WC_REM_ACCESS_ERR) {
    EXPECT_THAT(b.events(), ElementsAre(IBV_EVENT_QP_ACCESS_ERR));
  } else {
    EXPECT_THAT(b.events(), ElementsAre());
  }
  EXPECT_TRUE(before == std::pair(a.memory, b.memory));
  b.hca->dereg_mr(foreign).value();
  b.hca->dealloc_pd(other).value();
}

INSTANTIATE_TEST_SUITE_P(OfMemory, Rules,
                         ::testing::Combine(::testing::ValuesIn(kOneSided),
                                            ::testing::ValuesIn(kRules)),
                         [](const auto& each) {
                           return std::string(std::get<1>(each.param).name) + "Opcode" +
                                  std::to_string(std::get<0>(each.param));
                         });

// --- changes ------------------------------------------------------------------------------------

TEST_F(Regions, AreMovedWithTheSameKey) {
  connect();
  const std::uint32_t key = b.mr->rkey;
  void* const there = b.memory.data() + 1000;
  ASSERT_EQ(change(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, there, 100, 0), 0);
  EXPECT_EQ(b.mr->rkey, key);
  EXPECT_EQ(b.mr->addr, there);
  EXPECT_EQ(b.mr->length, 100u);
  EXPECT_EQ(use(key, number(there), 100), IBV_WC_SUCCESS);
  EXPECT_EQ(use(key, number(b.memory.data()), 10), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Regions, LoseRightsThatAreTakenFromThem) {
  connect();
  ASSERT_EQ(change(IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_LOCAL_WRITE), 0);
  EXPECT_EQ(use(b.mr->rkey, number(b.memory.data()), 10), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(Regions, ChangeTheirProtectionDomain) {
  connect();
  ibv_pd* other = b.hca->alloc_pd(b.context).value();
  ASSERT_EQ(change(IBV_REREG_MR_CHANGE_PD, other, nullptr, 0, 0), 0);
  EXPECT_EQ(b.mr->pd, other);
  EXPECT_EQ(b.hca->dealloc_pd(other).error().value(), EBUSY);
  EXPECT_EQ(use(b.mr->rkey, number(b.memory.data()), 10), IBV_WC_REM_ACCESS_ERR);
  ASSERT_EQ(change(IBV_REREG_MR_CHANGE_PD, b.pd, nullptr, 0, 0), 0);
  b.hca->dealloc_pd(other).value();
}

TEST_F(Regions, StayAsTheyAreWhenTheirChangeFails) {
  connect();
  Pages gone(1);
  void* const unmapped = gone.data();
  gone.unmap();
  const void* const at = b.mr->addr;
  EXPECT_EQ(change(0, nullptr, nullptr, 0, 0), EINVAL);
  EXPECT_EQ(change(8, nullptr, nullptr, 0, 0), EINVAL);
  EXPECT_EQ(change(IBV_REREG_MR_CHANGE_PD, nullptr, nullptr, 0, 0), EINVAL);
  EXPECT_EQ(change(IBV_REREG_MR_CHANGE_PD, a.pd, nullptr, 0, 0), ENOENT);  // another context's
  EXPECT_EQ(change(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, nullptr, 10, 0), EINVAL);
  EXPECT_EQ(change(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, b.memory.data(), 0, 0), EINVAL);
  EXPECT_EQ(change(IBV_REREG_MR_CHANGE_PD, b.pd, nullptr, 0, kAll), EINVAL);
  EXPECT_EQ(change(IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, IBV_ACCESS_REMOTE_WRITE),
            EINVAL);
  EXPECT_EQ(change(IBV_REREG_MR_CHANGE_TRANSLATION, nullptr, unmapped, kPage, 0), EFAULT);
  EXPECT_EQ(b.mr->addr, at);
  EXPECT_EQ(use(b.mr->rkey, number(b.memory.data()), 10), IBV_WC_SUCCESS);
}

// --- paging on demand ---------------------------------------------------------------------------

TEST_F(Regions, PagedOnDemandNeedNoMemoryUntilItIsUsed) {
  Pages pages(2);
  ibv_mr* mr = register_at(pages.data(), 2 * kPage, kAll | IBV_ACCESS_ON_DEMAND).value();
  connect();
  a.fill(0, 100, 7);
  EXPECT_EQ(use(mr->rkey, number(pages.data() + kPage - 50), 100), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(pages.data() + kPage - 50, a.memory.data(), 100), 0);
  pages.unmap_page(1);
  EXPECT_EQ(use(mr->rkey, number(pages.data()), 100, IBV_WR_RDMA_READ), IBV_WC_SUCCESS);
  EXPECT_EQ(use(mr->rkey, number(pages.data() + kPage), 100), IBV_WC_REM_ACCESS_ERR);
  b.hca->dereg_mr(mr).value();
}

TEST_F(Regions, PagedOnDemandThatAreNotThereAreLocalErrorsToo) {
  Pages pages(1);
  ibv_mr* mr = a.hca->reg_mr(a.pd, pages.data(), kPage, 0, kAll | IBV_ACCESS_ON_DEMAND).value();
  pages.unmap();
  connect();
  ibv_sge list{0, 10, mr->lkey};
  ibv_send_wr request{};
  request.sg_list = &list;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  ibv_send_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_send(a.qp, &request, &bad), 0);
  settle();
  const auto done = a.poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, IBV_WC_LOC_PROT_ERR);
  a.hca->dereg_mr(mr).value();
}

TEST_F(Regions, CanBeTheWholeAddressSpace) {
  ibv_mr* mr =
      register_at(nullptr, std::numeric_limits<std::size_t>::max(), kAll | IBV_ACCESS_ON_DEMAND)
          .value();
  connect();
  a.fill(0, 100, 7);
  EXPECT_EQ(use(mr->rkey, number(b.memory.data() + 8), 100), IBV_WC_SUCCESS);
  EXPECT_TRUE(b.filled(8, 100, 7));
  EXPECT_EQ(use(mr->rkey, 16, 100), IBV_WC_REM_ACCESS_ERR);  // nobody maps the first page
  b.hca->dereg_mr(mr).value();
}

TEST_F(Regions, PagedOnDemandWriteNoReadOnlyMemory) {
  Pages pages(1, PROT_READ);
  ibv_mr* mr = register_at(pages.data(), kPage, kAll | IBV_ACCESS_ON_DEMAND).value();
  connect();
  EXPECT_EQ(use(mr->rkey, number(pages.data()), 8, IBV_WR_RDMA_READ), IBV_WC_SUCCESS);
  EXPECT_EQ(use(mr->rkey, number(pages.data()), 8), IBV_WC_REM_ACCESS_ERR);
  b.hca->dereg_mr(mr).value();
}

TEST_F(Regions, AreNotPagedOnDemandWhereTheDeviceCannot) {
  HcaConfig config;
  config.on_demand_paging = false;
  config.max_dm_size = 0;
  Side c(runtime, random, pool, 3, 0x300, config);
  EXPECT_EQ(c.hca->reg_mr(c.pd, c.memory.data(), 0, 0, IBV_ACCESS_ON_DEMAND).error().value(),
            EOPNOTSUPP);
  const ibv_device_attr_ex attr = attributes(c.context);
  EXPECT_EQ(attr.odp_caps.general_caps, 0u);
  EXPECT_EQ(attr.max_dm_size, 0u);
  ibv_alloc_dm_attr wanted{.length = 8, .log_align_req = 0, .comp_mask = 0};
  EXPECT_EQ(ibv_alloc_dm(c.context, &wanted), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(Regions, AdviceIsHeldToItsRules) {
  Pages pages(2);
  ibv_mr* mr = register_at(pages.data(), 2 * kPage, IBV_ACCESS_ON_DEMAND).value();
  const auto advise = [&](ibv_advise_mr_advice advice, std::uint32_t flags, ibv_sge range,
                          std::uint32_t count = 1) {
    return ibv_advise_mr(b.pd, advice, flags, &range, count);
  };
  constexpr auto kPrefetch = IBV_ADVISE_MR_ADVICE_PREFETCH;
  constexpr auto kFlush = IBV_ADVISE_MR_FLAG_FLUSH;
  const ibv_sge good{number(pages.data()), 2 * kPage, mr->lkey};
  EXPECT_EQ(advise(kPrefetch, 0, good), 0);
  EXPECT_EQ(advise(kPrefetch, kFlush, good), 0);
  EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH_NO_FAULT, kFlush, good), 0);
  EXPECT_EQ(advise(IBV_ADVISE_MR_ADVICE_PREFETCH_WRITE, 0, good), EPERM);
  EXPECT_EQ(advise(kPrefetch, 2, good), EINVAL);
  EXPECT_EQ(advise(kPrefetch, 0, good, 0), EINVAL);
  EXPECT_EQ(advise(static_cast<ibv_advise_mr_advice>(3), 0, good), EOPNOTSUPP);
  EXPECT_EQ(advise(kPrefetch, 0, {good.addr, good.length + 1, mr->lkey}), EFAULT);
  EXPECT_EQ(advise(kPrefetch, 0, {good.addr, 1, mr->lkey + 1}), EFAULT);
  EXPECT_EQ(advise(kPrefetch, 0, b.piece(0, 1)), EINVAL);  // not paged on demand
  ibv_pd* other = b.hca->alloc_pd(b.context).value();
  ibv_sge range = good;
  EXPECT_EQ(ibv_advise_mr(other, kPrefetch, 0, &range, 1), EPERM);
  b.hca->dealloc_pd(other).value();
  pages.unmap_page(1);
  EXPECT_EQ(advise(kPrefetch, 0, good), 0);
  EXPECT_EQ(advise(kPrefetch, kFlush, good), EFAULT);
  b.hca->dereg_mr(mr).value();
}

// --- device memory ------------------------------------------------------------------------------

TEST_F(Regions, OfDeviceMemoryCountFromZero) {
  const ibv_device_attr_ex attr = attributes(b.context);
  EXPECT_GT(attr.max_dm_size, 0u);
  ibv_alloc_dm_attr wanted{.length = 100, .log_align_req = 3, .comp_mask = 0};
  ibv_dm* dm = ibv_alloc_dm(b.context, &wanted);
  ASSERT_NE(dm, nullptr);
  ibv_mr* mr = ibv_reg_dm_mr(b.pd, dm, 20, 80, kAll | IBV_ACCESS_ZERO_BASED);
  ASSERT_NE(mr, nullptr);
  connect();
  a.fill(0, 40, 6);
  EXPECT_EQ(use(mr->rkey, 40, 40), IBV_WC_SUCCESS);
  std::array<std::uint8_t, 40> out{};
  ASSERT_EQ(ibv_memcpy_from_dm(out.data(), dm, 60, 40), 0);
  EXPECT_EQ(std::memcmp(out.data(), a.memory.data(), 40), 0);
  EXPECT_EQ(ibv_free_dm(dm), EBUSY);
  EXPECT_EQ(b.hca->rereg_mr(mr, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, 0).error().value(),
            EINVAL);
  EXPECT_EQ(use(mr->rkey, 41, 40), IBV_WC_REM_ACCESS_ERR);
  b.hca->dereg_mr(mr).value();
  EXPECT_EQ(ibv_free_dm(dm), 0);
}

TEST_F(Regions, DeviceMemoryIsHeldToItsRules) {
  ibv_alloc_dm_attr wanted{.length = 100, .log_align_req = 0, .comp_mask = 0};
  ibv_dm* dm = ibv_alloc_dm(b.context, &wanted);
  ASSERT_NE(dm, nullptr);
  std::array<std::uint8_t, 200> data{};
  EXPECT_EQ(ibv_memcpy_to_dm(dm, 2, data.data(), 4), EINVAL);
  EXPECT_EQ(ibv_memcpy_to_dm(dm, 4, data.data(), 2), EINVAL);
  EXPECT_EQ(ibv_memcpy_to_dm(dm, 104, data.data(), 4), EINVAL);
  EXPECT_EQ(ibv_memcpy_to_dm(dm, 0, data.data(), 104), EINVAL);
  EXPECT_EQ(ibv_memcpy_from_dm(data.data(), dm, 100, 4), EINVAL);
  EXPECT_EQ(ibv_memcpy_to_dm(dm, 0, data.data(), 100), 0);
  EXPECT_EQ(ibv_reg_dm_mr(b.pd, dm, 0, 104, IBV_ACCESS_ZERO_BASED), nullptr);
  EXPECT_EQ(ibv_reg_dm_mr(b.pd, dm, 0, 100, IBV_ACCESS_LOCAL_WRITE), nullptr);
  EXPECT_EQ(ibv_reg_dm_mr(b.pd, dm, 0, 100, IBV_ACCESS_ZERO_BASED | IBV_ACCESS_REMOTE_WRITE),
            nullptr);
  wanted.length = 0;
  EXPECT_EQ(ibv_alloc_dm(b.context, &wanted), nullptr);
  EXPECT_EQ(errno, EINVAL);
  wanted.length = std::size_t{1} << 40;
  EXPECT_EQ(ibv_alloc_dm(b.context, &wanted), nullptr);
  EXPECT_EQ(errno, ENOMEM);
  EXPECT_EQ(ibv_free_dm(dm), 0);
}

TEST_F(Regions, AndDeviceMemoryLeftBehindEndWithTheirContext) {
  ibv_context* context = b.hca->open_device(b.hca->device()).value();
  ibv_pd* pd = b.hca->alloc_pd(context).value();
  ibv_alloc_dm_attr wanted{.length = 8, .log_align_req = 0, .comp_mask = 0};
  ibv_dm* dm = ibv_alloc_dm(context, &wanted);
  ASSERT_NE(ibv_reg_dm_mr(pd, dm, 0, 8, IBV_ACCESS_ZERO_BASED), nullptr);
  ASSERT_NE(ibv_alloc_mw(pd, IBV_MW_TYPE_1), nullptr);
  b.hca->close_device(context).value();
  EXPECT_EQ(b.hca->census().memory_regions, 1u);
  EXPECT_EQ(b.hca->census().memory_windows, 0u);
  EXPECT_EQ(b.hca->census().device_memories, 0u);
}

// What Linux 6.1 answers on rxe.
TEST_F(Regions, OfNoBytesNeedAPageThatTheyLieIn) {
  const Pages page(1);
  EXPECT_EQ(error_of(page.data(), 0, kAll), EINVAL);
  EXPECT_EQ(error_of(nullptr, 0, kAll), EINVAL);
  EXPECT_EQ(error_of(page.data() + 1, 0, kAll), 0);
  EXPECT_EQ(error_of(page.data(), 0, kAll | IBV_ACCESS_ON_DEMAND), EINVAL);

  connect();
  ibv_mr* mr = register_at(page.data() + 1, 0, kAll).value();
  const auto start = reinterpret_cast<std::uintptr_t>(page.data() + 1);
  EXPECT_EQ(use(mr->rkey, start, 1), IBV_WC_REM_ACCESS_ERR);
  b.hca->dereg_mr(mr).value();
}

// --- null regions -------------------------------------------------------------------------------

class NullRegions : public Regions {
 protected:
  ibv_wc_status access(ibv_wr_opcode opcode, std::vector<ibv_sge> list) {
    ibv_send_wr request{};
    request.sg_list = list.data();
    request.num_sge = static_cast<int>(list.size());
    request.opcode = opcode;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.rdma = {.remote_addr = b.piece(0, 0).addr, .rkey = b.mr->rkey};
    ibv_send_wr* bad = nullptr;
    if (ibv_post_send(a.qp, &request, &bad) != 0) return IBV_WC_GENERAL_ERR;
    settle();
    const auto done = a.poll();
    return done.size() == 1 ? done[0].status : IBV_WC_GENERAL_ERR;
  }
  static ibv_sge nothing(const ibv_mr* mr, std::uint32_t length) {
    return {.addr = 0x1234, .length = length, .lkey = mr->lkey};
  }
};

TEST_F(NullRegions, ReadAsZerosAndTakeWhatIsWritten) {
  connect();
  ibv_mr* mr = ibv_alloc_null_mr(a.pd);
  ASSERT_NE(mr, nullptr);
  EXPECT_EQ(mr->length, std::numeric_limits<std::size_t>::max());
  a.fill(0, 600, 3);
  b.fill(0, 1200, 7);

  const auto gathered = access(IBV_WR_RDMA_WRITE, {a.piece(0, 300), nothing(mr, 600)});
  EXPECT_EQ(gathered, IBV_WC_SUCCESS);
  EXPECT_TRUE(b.filled(0, 300, 3));
  EXPECT_TRUE(std::all_of(b.memory.begin() + 300, b.memory.begin() + 900,
                          [](std::uint8_t byte) { return byte == 0; }));

  b.fill(0, 1200, 9);
  const std::vector<std::uint8_t> wanted(b.memory.begin() + 700, b.memory.begin() + 1200);
  const auto scattered = access(IBV_WR_RDMA_READ, {nothing(mr, 700), a.piece(0, 500)});
  EXPECT_EQ(scattered, IBV_WC_SUCCESS);
  EXPECT_TRUE(std::equal(wanted.begin(), wanted.end(), a.memory.begin()));
  EXPECT_TRUE(a.hca->dereg_mr(mr).has_value());
}

TEST_F(NullRegions, AreForLocalUseOfTheirDomainOnly) {
  connect();
  ibv_mr* theirs = ibv_alloc_null_mr(b.pd);
  EXPECT_EQ(use(theirs->lkey, 0, 8), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(b.hca->rereg_mr(theirs, IBV_REREG_MR_CHANGE_ACCESS, nullptr, nullptr, 0, kAll)
                .error()
                .value(),
            EINVAL);
  b.hca->dereg_mr(theirs).value();
}

TEST_F(NullRegions, OfAnotherDomainAndOfYesterdayAreNobodys) {
  ibv_pd* other = a.hca->alloc_pd(a.context).value();
  for (ibv_pd* pd : {other, a.pd}) {
    connect();
    ibv_mr* mr = ibv_alloc_null_mr(pd);
    const ibv_sge piece = nothing(mr, 8);
    if (pd == a.pd) a.hca->dereg_mr(mr).value();
    EXPECT_EQ(access(IBV_WR_RDMA_WRITE, {piece}), IBV_WC_LOC_PROT_ERR);
    if (pd == other) a.hca->dereg_mr(mr).value();
    for (Side* side : {&a, &b}) {
      side->hca->destroy_qp(side->qp).value();
      side->qp = nullptr;
    }
  }
  a.hca->dealloc_pd(other).value();
}

TEST_F(NullRegions, CountAsRegions) {
  Side c(runtime, random, pool, 3, 0x500, {.max_mr = 0});
  errno = 0;
  EXPECT_EQ(ibv_alloc_null_mr(c.pd), nullptr);
  EXPECT_EQ(errno, ENOMEM);
}

}  // namespace
}  // namespace anyrdma::verbs::soft
