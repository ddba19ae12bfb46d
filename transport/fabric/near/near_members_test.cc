// RDMA between members without packets: what is done so, and that it cannot be told from the rest.
#include "transport/fabric/near/near_members.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>

#include "transport/fabric/rendezvous/testing/scratch.h"
#include "transport/fabric/testing/end.h"
#include "transport/realtime/testing/child.h"
#include "transport/realtime/testing/eventually.h"

namespace anyrdma::transport::fabric {
namespace {

using realtime::testing::Child;
using realtime::testing::eventually;
using testing::End;
using testing::EndAddress;
using testing::EndOptions;
using testing::Scratch;

constexpr unsigned kAll = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                          IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

/// What two processes tell each other.
struct Board {
  EndAddress addresses[3];
  std::atomic<std::uint64_t> count;
  std::atomic<bool> stop;
};

class NearTest : public ::testing::Test {
 protected:
  NearTest() {
    void* const at =
        ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    board = static_cast<Board*>(at);
  }
  ~NearTest() override { ::munmap(board, sizeof(Board)); }

  static void connect(End& a, End& b) {
    const EndAddress of_a = a.address();
    a.connect(b.address());
    b.connect(of_a);
  }

  Scratch scratch;
  Board* board;
};

using NearTransfer = NearTest;
using NearErrors = NearTest;
class NearProcesses : public NearTest {
 protected:
  void SetUp() override {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "ThreadSanitizer cannot follow threads of a child whose parent had some";
#endif
  }
};

void fill(std::uint8_t* at, std::size_t size, std::uint8_t first) {
  std::iota(at, at + size, first);
}

// --- transfers -----------------------------------------------------------------------------------

TEST_F(NearTransfer, OncePeersKnowEachOtherNothingTravels) {
  End a(scratch.config());
  End b(scratch.config());
  connect(a, b);
  ASSERT_TRUE(a.come_near());
  const std::uint64_t packets = a.packets() + b.packets();

  fill(a.memory(), 100'000, 3);
  EXPECT_EQ(a.run(IBV_WR_RDMA_WRITE, 0, 100'000, 5000), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(a.memory(), b.memory() + 5000, 100'000), 0);
  fill(b.memory(), 70'000, 9);
  EXPECT_EQ(a.run(IBV_WR_RDMA_READ, 200'000, 70'000, 0), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(a.memory() + 200'000, b.memory(), 70'000), 0);

  EXPECT_EQ(a.packets() + b.packets(), packets);
}

TEST_F(NearTransfer, EveryLengthAndPlaceAroundPageBoundaries) {
  EndOptions odd;
  odd.offset = 1000;  // its first page and its last are not its own
  End a(scratch.config());
  End b(scratch.config(), odd);
  connect(a, b);
  ASSERT_TRUE(a.come_near());
  const std::uint64_t before = a.near_operations();
  int operations = 0;

  fill(a.memory(), End::kBytes, 0);
  for (const std::size_t at : {0ul, 1ul, 3000ul, 3095ul, 3096ul, 7190ul, End::kBytes - 9000}) {
    for (const std::uint32_t size : {0u, 1u, 2u, 3u, 7u, 8u, 9u, 15u, 64u, 4095u, 4096u, 8999u}) {
      std::memset(b.memory(), 0xee, End::kBytes);
      ASSERT_EQ(a.run(IBV_WR_RDMA_WRITE, at & 7, size, at), IBV_WC_SUCCESS);
      ASSERT_EQ(std::memcmp(b.memory() + at, a.memory() + (at & 7), size), 0) << at << " " << size;
      ASSERT_EQ(std::count(b.memory(), b.memory() + at, 0xee), static_cast<std::ptrdiff_t>(at));
      ASSERT_EQ(b.memory()[at + size], 0xee);
      ++operations;
    }
  }

  EXPECT_EQ(a.near_operations() - before, static_cast<std::uint64_t>(operations));
}

TEST_F(NearTransfer, GatherAndScatterLists) {
  End a(scratch.config());
  End b(scratch.config());
  connect(a, b);
  ASSERT_TRUE(a.come_near());
  const std::uint64_t before = a.near_operations();
  fill(a.memory(), 1000, 1);
  const auto at = reinterpret_cast<std::uintptr_t>(a.memory());
  ibv_sge list[4] = {{at, 10, a.mr->lkey},
                     {at + 500, 0, 0},
                     {at + 600, 300, a.mr->lkey},
                     {at + 20, 1, a.mr->lkey}};
  ibv_send_wr request{};
  request.sg_list = list;
  request.num_sge = 4;
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma = {b.address().memory, b.mr->rkey};

  ASSERT_EQ(a.post(request), 0);
  ASSERT_EQ(a.next_completion(), IBV_WC_SUCCESS);
  EXPECT_EQ(b.memory()[9], a.memory()[9]);
  EXPECT_EQ(std::memcmp(b.memory() + 10, a.memory() + 600, 300), 0);
  EXPECT_EQ(b.memory()[310], a.memory()[20]);
  EXPECT_EQ(b.memory()[311], 0);

  request.opcode = IBV_WR_RDMA_READ;
  fill(b.memory(), 311, 77);
  ASSERT_EQ(a.post(request), 0);
  ASSERT_EQ(a.next_completion(), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(a.memory() + 600, b.memory() + 10, 300), 0);
  EXPECT_EQ(a.memory()[20], b.memory()[310]);

  request.opcode = IBV_WR_RDMA_WRITE;
  request.num_sge = 1;
  request.send_flags = IBV_SEND_INLINE;
  fill(a.memory(), 10, 200);
  ASSERT_EQ(a.post(request), 0);
  ASSERT_EQ(a.next_completion(), IBV_WC_SUCCESS);
  EXPECT_EQ(std::memcmp(a.memory(), b.memory(), 10), 0);
  EXPECT_EQ(a.near_operations() - before, 3u);
}

TEST_F(NearTransfer, OrderIsKeptAmongWritesAndSends) {
  End a(scratch.config());
  End b(scratch.config());
  connect(a, b);
  ASSERT_TRUE(a.come_near());
  for (int round = 0; round < 200; ++round) {
    const auto mark = static_cast<std::uint8_t>(round);
    b.post_receive(100'000, 8);
    std::memset(a.memory(), mark, 8);
    std::memset(a.memory() + 50'000, mark, 8000);
    ASSERT_EQ(a.post(IBV_WR_RDMA_WRITE, 50'000, 8000, 50'000), 0);
    ASSERT_EQ(a.post(IBV_WR_SEND, 0, 8, 0), 0);
    ASSERT_EQ(a.post(IBV_WR_RDMA_WRITE, 0, 8, 200'000), 0);
    ASSERT_EQ(a.post(IBV_WR_RDMA_READ, 300'000, 8, 200'000, IBV_SEND_FENCE), 0);

    ASSERT_EQ(b.next_completion(), IBV_WC_SUCCESS);
    ASSERT_EQ(b.memory()[57'999], mark);
    for (int i = 0; i < 4; ++i) ASSERT_EQ(a.next_completion(), IBV_WC_SUCCESS);
    ASSERT_EQ(b.memory()[200'007], mark);
    ASSERT_EQ(a.memory()[300'007], mark);
  }
}

/// Posts WRITEs and a READ of much, without a look in between: the packets that they cost.
std::uint64_t packets_of_large_ones(End& a, End& b, std::uint8_t mark) {
  constexpr std::uint32_t kMuch = 50'000;
  const std::uint64_t before = a.packets();
  fill(a.memory(), kMuch, mark);
  std::memset(b.memory(), 0, 2 * std::size_t{kMuch});
  EXPECT_EQ(a.post(IBV_WR_RDMA_WRITE, 0, kMuch, 0), 0);
  EXPECT_EQ(a.post(IBV_WR_RDMA_WRITE, 0, kMuch, kMuch), 0);
  EXPECT_EQ(a.post(IBV_WR_RDMA_READ, kMuch, 2 * kMuch, 0), 0);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(a.next_completion(), IBV_WC_SUCCESS);
  for (std::size_t part = 1; part <= 2; ++part)
    EXPECT_EQ(std::memcmp(a.memory(), a.memory() + part * kMuch, kMuch), 0) << part;
  return a.packets() - before;
}

TEST_F(NearTransfer, LargeOnesInARowTravelToWhoPollsAndToNobodyElse) {
  End a(scratch.config());
  End b(scratch.config());
  connect(a, b);
  ASSERT_TRUE(a.come_near());
  EXPECT_EQ(packets_of_large_ones(a, b, 1), 0u);

  std::uint8_t mark = 2;
  {
    std::jthread polls([&](const std::stop_token& stop) {
      ibv_wc none;
      while (!stop.stop_requested()) EXPECT_EQ(ibv_poll_cq(b.cq, 1, &none), 0);
    });
    EXPECT_TRUE(eventually([&] { return packets_of_large_ones(a, b, mark++) > 0; }));
  }
  EXPECT_TRUE(eventually([&] { return packets_of_large_ones(a, b, mark++) == 0; }));
}

TEST_F(NearTransfer, AWriteWithImmediateAndASendTravel) {
  End a(scratch.config());
  End b(scratch.config());
  connect(a, b);
  ASSERT_TRUE(a.come_near());
  const std::uint64_t before = a.near_operations();

  b.post_receive(0, 0);
  EXPECT_EQ(a.run(IBV_WR_RDMA_WRITE_WITH_IMM, 0, 8, 0), IBV_WC_SUCCESS);

  EXPECT_EQ(b.next_completion(), IBV_WC_SUCCESS);
  EXPECT_EQ(a.near_operations(), before);
}

TEST_F(NearTransfer, WithoutNearMemoryAllTravels) {
  FabricConfig config = scratch.config();
  config.near_memory = false;
  End a(config);
  End b(scratch.config());
  connect(a, b);

  for (int i = 0; i < 20; ++i) EXPECT_EQ(a.run(IBV_WR_RDMA_WRITE, 0, 64, 0), IBV_WC_SUCCESS);

  EXPECT_EQ(a.near_operations(), 0u);
}

// --- errors: the same as packets meet, because packets meet them --------------------------------

class NearError : public NearTest {
 protected:
  void make(const EndOptions& options = {}) {
    a.emplace(scratch.config());
    b.emplace(scratch.config(), options);
    connect(*a, *b);
    if (options.access == kAll) {
      ASSERT_TRUE(a->come_near());
    }
  }
  std::optional<End> a;
  std::optional<End> b;
};

TEST_F(NearError, AWrongKey) {
  make();
  a->peer.rkey ^= 1;
  EXPECT_EQ(a->run(IBV_WR_RDMA_WRITE, 0, 8, 0), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(NearError, AKeyOfAnIndexThatNobodyEverHad) {
  make();
  a->peer.rkey = 0x00fff'f00;
  EXPECT_EQ(a->run(IBV_WR_RDMA_WRITE, 0, 8, 0), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(NearError, OneByteTooFarAndNothingIsWritten) {
  make();
  std::memset(a->memory(), 7, End::kBytes);
  EXPECT_EQ(a->run(IBV_WR_RDMA_WRITE, 0, End::kBytes - 16, 17), IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(b->memory()[17], 0);
}

TEST_F(NearError, OneByteTooEarly) {
  make();
  EXPECT_EQ(a->run(IBV_WR_RDMA_READ, 0, 8, ~std::uint64_t{0}), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(NearError, ARegionThatDoesNotGrantReads) {
  make({.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE});
  ASSERT_TRUE(a->come_near());
  // The queue pair's flags come first.
  EXPECT_EQ(a->run(IBV_WR_RDMA_READ, 0, 8, 0), IBV_WC_REM_INV_REQ_ERR);
}

TEST_F(NearError, ARegionOfAnotherDomain) {
  make();
  ibv_context* const context = b->pd->context;
  ibv_pd* const other = b->hca().alloc_pd(context).value();
  ibv_mr* const mr =
      b->hca()
          .reg_mr(other, b->memory(), 4096, reinterpret_cast<std::uintptr_t>(b->memory()), kAll)
          .value();
  a->peer.rkey = mr->rkey;

  EXPECT_EQ(a->run(IBV_WR_RDMA_WRITE, 0, 8, 0), IBV_WC_REM_ACCESS_ERR);

  b->hca().dereg_mr(mr).value();
  b->hca().dealloc_pd(other).value();
}

TEST_F(NearError, APeerInErrorOrInResetDoesNotAnswer) {
  for (const ibv_qp_state state : {IBV_QPS_ERR, IBV_QPS_RESET}) {
    make();
    b->modify(state);
    EXPECT_EQ(a->run(IBV_WR_RDMA_WRITE, 0, 8, 0), IBV_WC_RETRY_EXC_ERR);
    EXPECT_EQ(b->memory()[0], 0);
  }
}

TEST_F(NearError, OwnMemoryThatIsNotRegistered) {
  make();
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(a->memory()), 8, a->mr->lkey ^ 1};
  ibv_send_wr request{};
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = IBV_WR_RDMA_WRITE;
  request.wr.rdma = {a->peer.memory, a->peer.rkey};
  ASSERT_EQ(a->post(request), 0);
  EXPECT_EQ(a->next_completion(), IBV_WC_LOC_PROT_ERR);
}

TEST_F(NearError, ADeregisteredRegion) {
  make();
  b->deregister();
  EXPECT_EQ(a->run(IBV_WR_RDMA_WRITE, 0, 8, 0), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(NearError, APortWithoutALinkTakesNothing) {
  make();
  const auto set_port = [this](bool active) {
    const verbs::CriticalSection section(b->station().transport().runtime());
    b->station().set_port(0, active).value();
  };
  set_port(false);
  const std::uint64_t before = a->near_operations();
  ASSERT_EQ(a->post(IBV_WR_RDMA_WRITE, 0, 8, 0), 0);
  EXPECT_EQ(a->near_operations(), before);
  set_port(true);
}

TEST_F(NearProcesses, AtomicsFromTwoProcessesAndFromPacketsAddUp) {
  constexpr int kRounds = 3000;
  const auto body = [this](bool near, int index) {
    return [this, near, index](const Child::Line& line) {
      FabricConfig config = scratch.config();
      config.near_memory = near;
      End end(config);
      board->addresses[index + 1] = end.address();
      line.send('a');
      (void)line.receive();
      end.connect(board->addresses[index == 0 ? 0 : 2]);
      line.send('c');
      (void)line.receive();
      for (int i = 0; i < kRounds; ++i)
        if (end.run(IBV_WR_ATOMIC_FETCH_AND_ADD, 8, 8, 0) != IBV_WC_SUCCESS) return 1;
      return 0;
    };
  };
  // Both have a connection of their own to one word.
  Child first(body(true, 0));
  ASSERT_EQ(first.receive(), 'a');
  End x(scratch.config());
  const EndAddress peer = board->addresses[1];
  board->addresses[0] = x.address();
  Child second(body(false, 1));
  ASSERT_EQ(second.receive(), 'a');
  ibv_qp_init_attr init{};
  init.qp_type = IBV_QPT_RC;
  init.send_cq = init.recv_cq = x.cq;
  init.cap = {.max_send_wr = 1,
              .max_recv_wr = 1,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = 0};
  ibv_qp* const own = x.qp;
  ibv_qp* const other = x.hca().create_qp(x.pd, &init).value();
  x.connect(peer);
  x.qp = other;
  const EndAddress peer_of_other = board->addresses[2];
  board->addresses[2] = x.address();
  x.connect(peer_of_other);
  x.qp = own;
  for (Child* child : {&first, &second}) {
    child->send('g');
    ASSERT_EQ(child->receive(), 'c');
  }
  first.send('g');
  second.send('g');

  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(second.wait(), 0);
  std::uint64_t sum = 0;
  std::memcpy(&sum, x.memory(), sizeof sum);
  EXPECT_EQ(sum, 2u * kRounds);
  x.hca().destroy_qp(other).value();
}

// --- life and death of what is written to -------------------------------------------------------

/// A child that writes and writes, on any number of bytes, until that fails or it is told to stop.
class Writer {
 public:
  Writer(const FabricConfig& config, Board* board, std::uint32_t bytes)
      : child_([=](const Child::Line& line) {
          End end(config);
          board->addresses[1] = end.address();
          line.send('a');
          (void)line.receive();
          end.connect(board->addresses[0]);
          std::memset(end.memory(), 0x77, bytes);
          if (!end.come_near()) return 1;
          line.send('n');
          while (!board->stop) {
            const int status = end.run(IBV_WR_RDMA_WRITE, 0, bytes, 0);
            if (status == IBV_WC_REM_ACCESS_ERR) return 2;
            if (status != IBV_WC_SUCCESS) return 3;
            ++board->count;
          }
          return 0;
        }) {}

  [[nodiscard]] bool start(End& target, Board* board) {
    if (child_.receive() != 'a') return false;
    board->addresses[0] = target.address();
    target.connect(board->addresses[1]);
    child_.send('g');
    return child_.receive() == 'n' && eventually([board] { return board->count > 10; });
  }
  Child& child() { return child_; }

 private:
  Child child_;
};

TEST_F(NearProcesses, AfterDeregistrationNothingIsWrittenAnyMore) {
  Writer writer(scratch.config(), board, 500'000);
  End target(scratch.config());
  ASSERT_TRUE(writer.start(target, board));

  target.deregister();
  std::memset(target.memory(), 1, 500'000);

  EXPECT_EQ(writer.child().wait(), 2);
  EXPECT_EQ(std::count(target.memory(), target.memory() + 500'000, 1), 500'000);
}

TEST_F(NearProcesses, NorAfterTheQueuePairLeftItsState) {
  Writer writer(scratch.config(), board, 500'000);
  End target(scratch.config());
  ASSERT_TRUE(writer.start(target, board));

  target.modify(IBV_QPS_ERR);
  std::memset(target.memory(), 1, 500'000);

  EXPECT_EQ(writer.child().wait(), 3);
  EXPECT_EQ(std::count(target.memory(), target.memory() + 500'000, 1), 500'000);
}

TEST_F(NearProcesses, AWriterKilledInTheMiddleHoldsUpNobody) {
  for (int round = 0; round < 5; ++round) {
    board->count = 0;
    Writer writer(scratch.config(), board, 1'000'000);
    End target(scratch.config());
    ASSERT_TRUE(writer.start(target, board));

    writer.child().kill();
    target.deregister();
  }
}

TEST_F(NearProcesses, ATargetThatWasKilledEndsTheConnection) {
  End a(scratch.config());
  board->addresses[1] = a.address();
  Child child([this](const Child::Line& line) {
    End target(scratch.config());
    board->addresses[0] = target.address();
    target.connect(board->addresses[1]);
    line.send('c');
    return static_cast<int>(line.receive());
  });
  ASSERT_EQ(child.receive(), 'c');
  a.connect(board->addresses[0]);
  ASSERT_TRUE(a.come_near());

  child.kill();

  EXPECT_TRUE(eventually([&] { return a.run(IBV_WR_RDMA_WRITE, 0, 8, 0) != IBV_WC_SUCCESS; }));
}

TEST_F(NearProcesses, AForkedChildHasItsOwnCopy) {
  End target(scratch.config());
  fill(target.memory(), End::kBytes, 1);
  Child child([&](const Child::Line& line) {
    if (target.memory()[12345] != static_cast<std::uint8_t>(12346)) return 1;
    line.send('r');
    (void)line.receive();
    if (target.memory()[12345] != static_cast<std::uint8_t>(12346)) return 2;
    std::memset(target.memory(), 99, End::kBytes);
    line.send('w');
    (void)line.receive();
    return target.memory()[12345] == 99 ? 0 : 3;
  });
  ASSERT_EQ(child.receive(), 'r');
  End a(scratch.config());
  connect(a, target);
  ASSERT_TRUE(a.come_near());
  std::memset(a.memory(), 55, 20'000);
  ASSERT_EQ(a.run(IBV_WR_RDMA_WRITE, 0, 20'000, 0), IBV_WC_SUCCESS);
  child.send('w');
  ASSERT_EQ(child.receive(), 'w');
  EXPECT_EQ(target.memory()[12345], 55);
  ASSERT_EQ(a.run(IBV_WR_RDMA_WRITE, 0, 20'000, 0), IBV_WC_SUCCESS);
  child.send('e');
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(target.memory()[12345], 55);
}

}  // namespace
}  // namespace anyrdma::transport::fabric
