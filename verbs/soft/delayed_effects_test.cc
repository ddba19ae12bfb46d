// Memory that is weaker than strict: what is delayed, what orders it, and that nothing is lost.
#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <vector>

#include "verbs/soft/memory_profile.h"
#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::ConnectionOptions;
using testing::Pair;
using testing::Side;

constexpr std::uint32_t kBytes = 200;
constexpr std::size_t kPlace = 4096;
// Of a piece of data: all of it, its second half, its first half 20 us later. Of a source:
// likewise.
constexpr std::uint32_t kAllLate = 4;
constexpr std::uint32_t kTailLate = 9;
constexpr std::uint32_t kHeadLate = 14;
constexpr std::uint32_t kEachLate = 19;  // whatever is chosen for each line, up to 20 us
constexpr std::uint32_t kFetchLate = 4;
constexpr std::uint32_t kPattern = 1;

/// Gives the choices of a list, then strict's; or random ones.
class Script final : public MemoryChooser {
 public:
  std::uint32_t choose(std::uint32_t count) override {
    if (random)
      return static_cast<std::uint32_t>((state_ = state_ * 6364136223846793005u + 1) >> 33) % count;
    if (choices.empty()) return 0;
    const std::uint32_t choice = choices.front();
    choices.pop_front();
    EXPECT_LT(choice, count);
    return choice;
  }
  void seed(std::uint64_t number) {
    random = true;
    state_ = number;
  }

  std::deque<std::uint32_t> choices;
  bool random = false;

 private:
  std::uint64_t state_ = 0;
};

class WeakMemory : public Pair {
 protected:
  void SetUp() override {
    a.hca->set_memory_model(MemoryProfile::kSpec, at_a);
    b.hca->set_memory_model(MemoryProfile::kSpec, at_b);
    a.fill(0, kBytes, 1);
  }
  void write(unsigned flags = IBV_SEND_SIGNALED) {
    EXPECT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, kBytes, &b, kPlace, flags), 0);
  }
  void read(std::uint64_t id = 2) {
    EXPECT_EQ(a.post_send(IBV_WR_RDMA_READ, id, kPlace, kBytes, &b, 0), 0);
  }
  [[nodiscard]] bool arrived() const { return b.filled(kPlace, kBytes, 1); }

  Script at_a;
  Script at_b;
};

TEST_F(WeakMemory, AWriteCompletesBeforeItIsSeen) {
  connect();
  at_b.choices = {kAllLate};

  write();
  carry();

  EXPECT_EQ(a.poll().size(), 1u);
  EXPECT_FALSE(arrived());
  settle();
  EXPECT_TRUE(arrived());
}

TEST_F(WeakMemory, AMessageIsSeenInPartsInEitherOrder) {
  connect();
  for (const std::uint32_t late : {kHeadLate, kTailLate}) {
    at_b.choices = {late};
    b.fill(kPlace, kBytes, 9);
    const std::uint8_t first = b.memory[kPlace];
    const std::uint8_t last = b.memory[kPlace + kBytes - 1];

    write();
    carry();

    EXPECT_EQ(b.memory[kPlace] == first, late == kHeadLate);
    EXPECT_EQ(b.memory[kPlace + kBytes - 1] == last, late == kTailLate);
    settle();
    EXPECT_TRUE(arrived());
  }
}

// In each of many ways, of which in some the middle is later than both ends, and in others earlier.
TEST_F(WeakMemory, EachLineBecomesVisibleInItsOwnTime) {
  constexpr int kTimes = 64;
  constexpr std::size_t kMiddle = kPlace + kBytes / 2;
  connect();
  int holes = 0;
  int islands = 0;
  for (int i = 0; i < kTimes; ++i) {
    at_b.choices = {kEachLate};
    b.fill(kPlace, kBytes, 9);
    const std::vector<std::uint8_t> before = b.memory;
    const auto changed = [&](std::size_t at) { return b.memory[at] != before[at]; };

    write();
    carry();

    const bool ends[] = {changed(kPlace), changed(kPlace + kBytes - 1)};
    holes += ends[0] && ends[1] && !changed(kMiddle);
    islands += !ends[0] && !ends[1] && changed(kMiddle);
    settle();
    EXPECT_TRUE(arrived());
  }
  EXPECT_GT(holes, 0);
  EXPECT_GT(islands, 0);
}

TEST_F(WeakMemory, AReadBehindAWriteMakesItVisible) {
  connect();
  at_b.choices = {kAllLate};

  write();
  read();
  carry();

  EXPECT_TRUE(arrived());
}

TEST_F(WeakMemory, AReceivesCompletionMakesEarlierWritesVisible) {
  connect();
  EXPECT_EQ(b.post_recv(3, 0, 64), 0);
  at_b.choices = {kAllLate};

  write();
  EXPECT_EQ(a.post_send(IBV_WR_SEND, 4, 0, 16), 0);
  carry();

  EXPECT_EQ(b.poll().size(), 1u);
  EXPECT_TRUE(arrived());
}

// The answer to the first READ is late, so both that came of it wait when the second one comes.
TEST_F(WeakMemory, AReadThatCameTwiceTakesNoRoomOfAnother) {
  connect({.max_rd_atomic = 2, .max_dest_rd_atomic = 2});
  wire = [](const Packet& packet) {
    return row_of(packet).operation == roce::Operation::kReadRequest ? 2 : 1;
  };
  at_b.choices = {kAllLate};

  read(2);
  read(3);
  settle();

  const std::vector<ibv_wc> all = a.poll();
  ASSERT_EQ(all.size(), 2u);
  for (const ibv_wc& each : all) EXPECT_EQ(each.status, IBV_WC_SUCCESS);
}

TEST_F(WeakMemory, DeregisteringARegionEndsWhatIsDelayed) {
  connect();
  at_b.choices = {kAllLate};
  write();
  carry();

  b.hca->dereg_mr(b.mr).value();
  b.mr = nullptr;

  EXPECT_TRUE(arrived());
  b.fill(kPlace, kBytes, 5);  // the program's own again
  settle();
  EXPECT_TRUE(b.filled(kPlace, kBytes, 5));
}

TEST_F(WeakMemory, DestroyingAQueuePairEndsWhatIsDelayed) {
  connect();
  at_b.choices = {kAllLate};
  write();
  carry();

  b.hca->destroy_qp(b.qp).value();
  b.qp = nullptr;

  EXPECT_TRUE(arrived());
}

TEST_F(WeakMemory, ASourceIsReadLaterThanItIsPosted) {
  connect();
  at_a.choices = {kFetchLate};

  write();
  a.fill(0, kBytes, 7);
  settle();

  EXPECT_TRUE(b.filled(kPlace, kBytes, 7));
}

TEST_F(WeakMemory, InlineDataIsReadWhenItIsPosted) {
  connect();
  at_a.choices = {kFetchLate};

  EXPECT_EQ(
      a.post_send(IBV_WR_RDMA_WRITE, 1, 0, 64, &b, kPlace, IBV_SEND_SIGNALED | IBV_SEND_INLINE), 0);
  a.fill(0, kBytes, 7);
  settle();

  EXPECT_TRUE(b.filled(kPlace, 64, 1));
}

TEST_F(WeakMemory, APostedReceiveHoldsAPatternUntilItsMessage) {
  connect();
  b.fill(0, 64, 3);
  at_b.choices = {kPattern};

  EXPECT_EQ(b.post_recv(3, 0, 64), 0);
  EXPECT_EQ(b.memory[0], 0xa5);
  EXPECT_EQ(b.memory[63], 0xa5);

  EXPECT_EQ(a.post_send(IBV_WR_SEND, 4, 0, 16), 0);
  settle();
  EXPECT_TRUE(b.filled(0, 16, 1));
}

TEST_F(WeakMemory, ACompletionFollowsTheAnswersData) {
  connect();
  b.fill(0, kBytes, 6);
  at_a.choices = {kPattern, kAllLate};

  read();
  carry();

  EXPECT_TRUE(a.poll().empty());
  EXPECT_EQ(a.memory[kPlace], 0xa5);
  settle();
  EXPECT_EQ(a.poll().size(), 1u);
  EXPECT_TRUE(a.filled(kPlace, kBytes, 6));
}

TEST_F(WeakMemory, LaterCompletionsFollowOneThatIsDelayed) {
  connect();
  at_a.choices = {0, 0, kAllLate};  // the WRITE's source, the READ's target, its answer

  read(1);
  write();
  carry();
  EXPECT_TRUE(a.poll().empty());
  EXPECT_EQ(a.modify(IBV_QPS_ERR, 0, {}), 0);
  write();

  const std::vector<ibv_wc> all = a.poll();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].opcode, IBV_WC_RDMA_READ);
  EXPECT_EQ(all[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(all[1].status, IBV_WC_SUCCESS);
  EXPECT_EQ(all[2].status, IBV_WC_WR_FLUSH_ERR);
}

TEST_F(WeakMemory, AReadMayFindWhatAWriteBehindItHasWritten) {
  connect();
  b.fill(0, kBytes, 2);
  at_b.choices = {kAllLate};

  read();
  EXPECT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, kBytes, &b, 0), 0);
  settle();

  EXPECT_TRUE(a.filled(kPlace, kBytes, 1));
}

TEST_F(WeakMemory, AFencedWriteBehindAReadIsNotFound) {
  connect();
  b.fill(0, kBytes, 2);
  at_b.choices = {kAllLate};

  read();
  EXPECT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 1, 0, kBytes, &b, 0, IBV_SEND_SIGNALED | IBV_SEND_FENCE),
            0);
  settle();

  EXPECT_TRUE(a.filled(kPlace, kBytes, 2));
}

/// Long messages of all kinds, some packets lost, repeated or late, with choices by chance.
class AnyChoices : public WeakMemory, public ::testing::WithParamInterface<ibv_qp_type> {};

TEST_P(AnyChoices, LoseAndDamageNothing) {
  constexpr std::uint32_t kLong = 5 * 256 + 17;
  const bool reliable = GetParam() == IBV_QPT_RC;
  ConnectionOptions options;
  options.type = GetParam();
  options.timeout = 8;
  connect(options);
  unsigned packets = 0;
  if (reliable)
    wire = [&](const Packet&) { return ++packets % 7 == 0 ? 0 : packets % 5 == 0 ? 2 : 1; };
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    at_a.seed(seed);
    at_b.seed(seed + 1000);
    const auto content = static_cast<std::uint8_t>(seed);
    a.fill(0, kLong, content);
    ASSERT_EQ(b.post_recv(1, 20'000, kLong), 0);
    ASSERT_EQ(a.post_send(IBV_WR_RDMA_WRITE, 2, 0, kLong, &b, 40'000), 0);
    ASSERT_EQ(a.post_send(IBV_WR_SEND, 3, 0, kLong), 0);
    if (reliable) {
      ASSERT_EQ(a.post_send(IBV_WR_RDMA_READ, 4, 60'000, kLong, &b, 40'000), 0);
    }
    settle();
    EXPECT_TRUE(b.filled(20'000, kLong, content));
    EXPECT_TRUE(b.filled(40'000, kLong, content));
    if (reliable) {
      EXPECT_TRUE(a.filled(60'000, kLong, content));
    }
    const std::vector<ibv_wc> sent = a.poll();
    ASSERT_EQ(sent.size(), reliable ? 3u : 2u);
    for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(sent[i].wr_id, i + 2);
    EXPECT_EQ(b.poll().size(), 1u);
  }
}

INSTANTIATE_TEST_SUITE_P(Services, AnyChoices, ::testing::Values(IBV_QPT_RC, IBV_QPT_UC));

TEST(MemoryProfiles, AreKnownByTheirNamesAlone) {
  for (const std::string_view name : kMemoryProfiles)
    EXPECT_EQ(to_string(memory_profile_of(name).value()), name);
  EXPECT_FALSE(memory_profile_of("Spec"));
  EXPECT_FALSE(memory_profile_of(""));
}

}  // namespace
}  // namespace anyrdma::verbs::soft
