// Atomic operations between two reliable queue pairs.
#include "verbs/soft/atomics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::ConnectionOptions;
using ::testing::ElementsAre;
using testing::Side;

constexpr unsigned kAtomicAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                   IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
constexpr std::uint64_t kInitial = 0x0123'4567'89ab'cdef;

class Atomics : public testing::Pair {
 protected:
  Atomics() {
    register_again(kAtomicAccess);
    set(b, 0, kInitial);
  }

  static ConnectionOptions with_atomics() {
    ConnectionOptions options;
    options.access = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
    return options;
  }

  void register_again(unsigned access) {
    b.hca->dereg_mr(b.mr).value();
    const auto start = reinterpret_cast<std::uintptr_t>(b.memory.data());
    b.mr = b.hca->reg_mr(b.pd, b.memory.data(), kMemory, start, access).value();
  }

  static void set(Side& side, std::size_t offset, std::uint64_t value) {
    std::memcpy(side.memory.data() + offset, &value, sizeof value);
  }
  static std::uint64_t at(const Side& side, std::size_t offset) {
    std::uint64_t value = 0;
    std::memcpy(&value, side.memory.data() + offset, sizeof value);
    return value;
  }

  // What was there comes to `local` of a's memory.
  ibv_send_wr request(ibv_wr_opcode opcode, std::uint64_t id, std::size_t local,
                      std::size_t remote) {
    list_ = a.piece(local, 8);
    ibv_send_wr request{};
    request.wr_id = id;
    request.sg_list = &list_;
    request.num_sge = 1;
    request.opcode = opcode;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.atomic.remote_addr = b.piece(remote, 0).addr;
    request.wr.atomic.rkey = b.mr->rkey;
    return request;
  }
  int post(ibv_send_wr request) {
    ibv_send_wr* bad = nullptr;
    return ibv_post_send(a.qp, &request, &bad);
  }
  int fetch_add(std::uint64_t id, std::uint64_t add, std::size_t local = 64,
                std::size_t remote = 0) {
    ibv_send_wr wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, id, local, remote);
    wr.wr.atomic.compare_add = add;
    return post(wr);
  }
  int compare_swap(std::uint64_t id, std::uint64_t compare, std::uint64_t swap) {
    ibv_send_wr wr = request(IBV_WR_ATOMIC_CMP_AND_SWP, id, 64, 0);
    wr.wr.atomic.compare_add = compare;
    wr.wr.atomic.swap = swap;
    return post(wr);
  }
  std::vector<ibv_wc_status> statuses() {
    std::vector<ibv_wc_status> all;
    for (const ibv_wc& each : a.poll()) all.push_back(each.status);
    return all;
  }

  ibv_sge list_{};
};

TEST_F(Atomics, FetchAndAddGivesWhatWasThereAndAdds) {
  connect(with_atomics());

  ASSERT_EQ(fetch_add(7, 5), 0);
  settle();

  const auto done = a.poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].wr_id, 7u);
  EXPECT_EQ(done[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(done[0].opcode, IBV_WC_FETCH_ADD);
  EXPECT_EQ(done[0].byte_len, 8u);
  EXPECT_EQ(at(a, 64), kInitial);
  EXPECT_EQ(at(b, 0), kInitial + 5);
}

TEST_F(Atomics, AdditionWrapsAround) {
  connect(with_atomics());
  set(b, 0, ~std::uint64_t{0});
  ASSERT_EQ(fetch_add(1, 2), 0);
  settle();
  EXPECT_EQ(at(b, 0), 1u);
}

TEST_F(Atomics, CompareAndSwapSwapsWhatIsEqual) {
  connect(with_atomics());
  ASSERT_EQ(compare_swap(1, kInitial, 42), 0);
  settle();
  const auto done = a.poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].opcode, IBV_WC_COMP_SWAP);
  EXPECT_EQ(at(a, 64), kInitial);
  EXPECT_EQ(at(b, 0), 42u);
}

TEST_F(Atomics, CompareAndSwapLeavesWhatDiffers) {
  connect(with_atomics());
  ASSERT_EQ(compare_swap(1, kInitial + 1, 42), 0);
  settle();
  EXPECT_THAT(statuses(), ElementsAre(IBV_WC_SUCCESS));
  EXPECT_EQ(at(a, 64), kInitial);
  EXPECT_EQ(at(b, 0), kInitial);
}

TEST_F(Atomics, TheAnswerIsScatteredOverTheWholeList) {
  connect(with_atomics());
  ibv_send_wr wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 0, 0);
  ibv_sge list[3] = {a.piece(100, 3), a.piece(200, 4), a.piece(300, 50)};
  wr.sg_list = list;
  wr.num_sge = 3;
  a.memory[301] = 0x77;
  ASSERT_EQ(post(wr), 0);
  settle();
  EXPECT_THAT(statuses(), ElementsAre(IBV_WC_SUCCESS));
  std::uint64_t together = 0;
  auto* bytes = reinterpret_cast<std::uint8_t*>(&together);
  std::memcpy(bytes, a.memory.data() + 100, 3);
  std::memcpy(bytes + 3, a.memory.data() + 200, 4);
  std::memcpy(bytes + 7, a.memory.data() + 300, 1);
  EXPECT_EQ(together, kInitial);
  EXPECT_EQ(a.memory[301], 0x77);
}

// --- once ---------------------------------------------------------------------------------------

TEST_F(Atomics, ARepeatedRequestIsAnsweredAgainAndNotDoneAgain) {
  connect(with_atomics());
  int lost = 2;
  wire = [&](const Packet& packet) {
    return row_of(packet).operation == roce::Operation::kAtomicAcknowledge && lost-- > 0 ? 0 : 1;
  };
  ASSERT_EQ(fetch_add(1, 1), 0);
  settle();
  EXPECT_THAT(statuses(), ElementsAre(IBV_WC_SUCCESS));
  EXPECT_EQ(at(a, 64), kInitial);
  EXPECT_EQ(at(b, 0), kInitial + 1);
  EXPECT_EQ(b.hca->counters().duplicates, 2u);
}

TEST_F(Atomics, EveryOneOfManyIsDoneOnceOverAWireThatLosesAndRepeats) {
  connect(with_atomics());
  std::uint32_t turn = 0;
  wire = [&](const Packet&) {
    turn = turn * 1103515245u + 12345u;
    const std::uint32_t choice = turn >> 28;
    return choice == 0 ? 0 : choice == 1 ? 2 : choice == 2 ? -1 : 1;
  };
  constexpr std::uint64_t kCount = 60;
  for (std::uint64_t i = 0; i < kCount; ++i) ASSERT_EQ(fetch_add(i, 1, 64 + 8 * i), 0);
  settle();
  EXPECT_EQ(at(b, 0), kInitial + kCount);
  EXPECT_EQ(a.poll().size(), kCount);
  for (std::uint64_t i = 0; i < kCount; ++i) EXPECT_EQ(at(a, 64 + 8 * i), kInitial + i);
}

TEST_F(Atomics, ADuplicateOfWhatNobodyRemembersIsDroppedInSilence) {
  connect(with_atomics());
  PacketPtr first;
  wire = [&](const Packet& packet) {
    if (row_of(packet).operation == roce::Operation::kFetchAdd && !first)
      first = pool.copy_of(packet);
    return 1;
  };
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_EQ(fetch_add(i, 1), 0);  // four are remembered
  settle();
  ASSERT_TRUE(first);
  b.hca->on_packet(runtime.time, std::move(first));
  EXPECT_EQ(b.hca->next_packet(), nullptr);
  EXPECT_EQ(at(b, 0), kInitial + 5);
}

// --- depth and order ----------------------------------------------------------------------------

TEST_F(Atomics, NoMoreAreOutstandingThanTheInitiatorDepth) {
  ConnectionOptions options = with_atomics();
  options.max_rd_atomic = 2;
  options.max_dest_rd_atomic = 2;
  connect(options);
  for (std::uint64_t i = 0; i < 5; ++i) ASSERT_EQ(fetch_add(i, 1), 0);
  int sent = 0;
  std::vector<PacketPtr> requests;
  while (PacketPtr packet = a.hca->next_packet()) {
    ++sent;
    b.hca->on_packet(runtime.time, std::move(packet));
  }
  EXPECT_EQ(sent, 2);
  settle();
  EXPECT_EQ(statuses(), std::vector<ibv_wc_status>(5, IBV_WC_SUCCESS));
}

TEST_F(Atomics, MoreThanAgreedAreInvalid) {
  ConnectionOptions options = with_atomics();
  options.max_dest_rd_atomic = 1;
  connect(options);
  for (std::uint64_t i = 0; i < 3; ++i) ASSERT_EQ(fetch_add(i, 1), 0);
  while (PacketPtr packet = a.hca->next_packet()) b.hca->on_packet(runtime.time, std::move(packet));
  settle();
  EXPECT_THAT(statuses(), ElementsAre(IBV_WC_SUCCESS, IBV_WC_REM_INV_REQ_ERR, IBV_WC_WR_FLUSH_ERR));
  EXPECT_THAT(b.events(), ElementsAre(IBV_EVENT_QP_REQ_ERR));
}

TEST_F(Atomics, WithoutInitiatorDepthFailLocally) {
  ConnectionOptions options = with_atomics();
  options.max_rd_atomic = 0;
  connect(options);
  ASSERT_EQ(fetch_add(1, 1), 0);
  settle();
  EXPECT_THAT(statuses(), ElementsAre(IBV_WC_LOC_QP_OP_ERR));
  EXPECT_EQ(at(b, 0), kInitial);
}

TEST_F(Atomics, AFencedSendWaitsForTheAtomicBeforeIt) {
  connect(with_atomics());
  ASSERT_EQ(b.post_recv(9, 512, 8), 0);
  ASSERT_EQ(fetch_add(1, 1), 0);
  ASSERT_EQ(a.post_send(IBV_WR_SEND, 2, 64, 8, nullptr, 0, IBV_SEND_SIGNALED | IBV_SEND_FENCE), 0);
  settle();
  EXPECT_THAT(statuses(), ElementsAre(IBV_WC_SUCCESS, IBV_WC_SUCCESS));
  EXPECT_EQ(at(b, 512), kInitial);  // what the atomic had brought
}

// --- refusals -----------------------------------------------------------------------------------

TEST_F(Atomics, AnAddressThatIsNotAMultipleOfEightIsInvalid) {
  connect(with_atomics());
  ASSERT_EQ(fetch_add(1, 1, 64, 4), 0);
  settle();
  EXPECT_THAT(statuses(), ElementsAre(IBV_WC_REM_INV_REQ_ERR));
  EXPECT_THAT(b.events(), ElementsAre(IBV_EVENT_QP_REQ_ERR));
}

TEST_F(Atomics, AnAddressThatOnlyLooksAlignedIsInvalid) {
  b.hca->dereg_mr(b.mr).value();
  b.mr = b.hca->reg_mr(b.pd, b.memory.data() + 4, 4096, 0x1000, kAtomicAccess).value();
  connect(with_atomics());
  ibv_send_wr wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 64, 0);
  wr.wr.atomic.remote_addr = 0x1000;
  ASSERT_EQ(post(wr), 0);
  settle();
  EXPECT_THAT(statuses(), ElementsAre(IBV_WC_REM_INV_REQ_ERR));
}

TEST_F(Atomics, AListOfLessThanEightBytesIsALocalLengthError) {
  connect(with_atomics());
  ibv_send_wr wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 64, 0);
  list_.length = 7;
  ASSERT_EQ(post(wr), 0);
  settle();
  EXPECT_THAT(statuses(), ElementsAre(IBV_WC_LOC_LEN_ERR));
  EXPECT_EQ(at(b, 0), kInitial);
}

TEST_F(Atomics, AnAnswerIntoReadOnlyMemoryFailsLocally) {
  connect(with_atomics());
  const auto start = reinterpret_cast<std::uintptr_t>(a.memory.data());
  ibv_mr* read_only = a.hca->reg_mr(a.pd, a.memory.data(), 100, start, 0).value();
  ibv_send_wr wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 64, 0);
  list_.lkey = read_only->lkey;
  ASSERT_EQ(post(wr), 0);
  settle();
  EXPECT_THAT(statuses(), ElementsAre(IBV_WC_LOC_PROT_ERR));
  EXPECT_EQ(at(b, 0), kInitial);
  a.hca->dereg_mr(read_only).value();
}

TEST_F(Atomics, ARegionThatDoesNotAllowThemIsARemoteAccessError) {
  register_again(kAtomicAccess & ~unsigned{IBV_ACCESS_REMOTE_ATOMIC});
  connect(with_atomics());
  ASSERT_EQ(fetch_add(1, 1), 0);
  settle();
  EXPECT_THAT(statuses(), ElementsAre(IBV_WC_REM_ACCESS_ERR));
  EXPECT_THAT(b.events(), ElementsAre(IBV_EVENT_QP_ACCESS_ERR));
}

TEST_F(Atomics, AQueuePairThatDoesNotAllowThemCallsThemInvalid) {
  connect();
  ASSERT_EQ(fetch_add(1, 1), 0);
  settle();
  EXPECT_THAT(statuses(), ElementsAre(IBV_WC_REM_INV_REQ_ERR));
  EXPECT_EQ(at(b, 0), kInitial);
}

TEST_F(Atomics, CannotBeInline) {
  connect(with_atomics());
  ibv_send_wr wr = request(IBV_WR_ATOMIC_FETCH_AND_ADD, 1, 64, 0);
  wr.send_flags |= IBV_SEND_INLINE;
  EXPECT_EQ(post(wr), EINVAL);
}

TEST_F(Atomics, AnAnswerToAReadIsNoAnswerToAnAtomic) {
  connect(with_atomics());
  wire = [&](const Packet& packet) {
    if (row_of(packet).operation == roce::Operation::kAtomicAcknowledge)
      const_cast<Packet&>(packet).storage[0] = roce::kRcReadResponseOnly;
    return 1;
  };
  ASSERT_EQ(fetch_add(1, 1), 0);
  carry();
  EXPECT_THAT(statuses(), ElementsAre());
  EXPECT_EQ(a.hca->counters().malformed, 1u);
}

// --- atomic write -------------------------------------------------------------------------------

TEST_F(Atomics, AWriteStoresEightBytesOnce) {
  connect(with_atomics());
  set(a, 64, 99);
  int lost = 1;
  wire = [&](const Packet& packet) {
    return row_of(packet).operation == roce::Operation::kReadResponse && lost-- > 0 ? 0 : 1;
  };
  ASSERT_EQ(a.post_send(IBV_WR_ATOMIC_WRITE, 4, 64, 8, &b, 0), 0);
  carry();
  EXPECT_EQ(at(b, 0), 99u);
  set(b, 0, 5);  // the repetition must not be done
  settle();
  const auto done = a.poll();
  ASSERT_EQ(done.size(), 1u);
  EXPECT_EQ(done[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(done[0].opcode, IBV_WC_ATOMIC_WRITE);
  EXPECT_EQ(at(b, 0), 5u);
}

TEST_F(Atomics, AWriteMayBeInlineAndNeedsNoMoreThanTheRightToWrite) {
  register_again(kAtomicAccess & ~unsigned{IBV_ACCESS_REMOTE_ATOMIC});
  connect();
  set(a, 64, 98);
  ASSERT_EQ(a.post_send(IBV_WR_ATOMIC_WRITE, 4, 64, 8, &b, 8, IBV_SEND_SIGNALED | IBV_SEND_INLINE),
            0);
  settle();
  EXPECT_THAT(statuses(), ElementsAre(IBV_WC_SUCCESS));
  EXPECT_EQ(at(b, 8), 98u);
}

TEST_F(Atomics, AWriteOfAnotherLengthIsALocalLengthError) {
  connect(with_atomics());
  ASSERT_EQ(a.post_send(IBV_WR_ATOMIC_WRITE, 4, 64, 7, &b, 0), 0);
  settle();
  EXPECT_THAT(statuses(), ElementsAre(IBV_WC_LOC_LEN_ERR));
}

TEST_F(Atomics, AWriteToAnAddressThatIsNotAMultipleOfEightIsInvalid) {
  connect(with_atomics());
  ASSERT_EQ(a.post_send(IBV_WR_ATOMIC_WRITE, 4, 64, 8, &b, 12), 0);
  settle();
  EXPECT_THAT(statuses(), ElementsAre(IBV_WC_REM_INV_REQ_ERR));
  EXPECT_EQ(at(b, 8), 0u);
}

TEST_F(Atomics, AWriteWhereNoneIsAllowedIsARemoteAccessError) {
  register_again(IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
  connect(with_atomics());
  ASSERT_EQ(a.post_send(IBV_WR_ATOMIC_WRITE, 4, 64, 8, &b, 0), 0);
  settle();
  EXPECT_THAT(statuses(), ElementsAre(IBV_WC_REM_ACCESS_ERR));
}

TEST(AtomicExecution, IsThatOfTheProcessor) {
  std::uint64_t word = 3;
  EXPECT_EQ(execute_atomic(&word, {.swap_or_add = 4}), 3u);
  EXPECT_EQ(word, 7u);
  EXPECT_EQ(execute_atomic(&word, {.compare_swap = true, .swap_or_add = 9, .compare = 8}), 7u);
  EXPECT_EQ(word, 7u);
  EXPECT_EQ(execute_atomic(&word, {.compare_swap = true, .swap_or_add = 9, .compare = 7}), 7u);
  EXPECT_EQ(word, 9u);
  EXPECT_TRUE(__atomic_always_lock_free(sizeof word, nullptr));
}

}  // namespace
}  // namespace anyrdma::verbs::soft
