// A reliable connection over a wire that loses, repeats and reorders: every packet of a
// conversation in turn suffers every fault, and the data must arrive once, in order and whole.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "verbs/soft/testing/pair.h"

namespace anyrdma::verbs::soft {
namespace {

using testing::ConnectionOptions;

enum class Fault { kLose, kDuplicate, kOvertaken, kOvertakenByMany };

int verdict(Fault fault) {
  switch (fault) {
    case Fault::kLose:
      return 0;
    case Fault::kDuplicate:
      return 2;
    case Fault::kOvertaken:
      return -1;
    case Fault::kOvertakenByMany:
      return -5;
  }
  return 1;
}

constexpr std::uint32_t kLength = 1000;  // four packets
constexpr std::uint64_t kRounds = 3;
constexpr std::size_t kReadTarget = 50'000;
constexpr std::size_t kReadSource = 100'000;
constexpr std::size_t kWriteTarget = 150'000;
constexpr std::size_t kReceives = 200'000;

// SENDs, WRITEs (one with immediate) and READs in both directions at once.
class Conversation : public testing::Pair {
 public:
  void TestBody() override {}

  int run(const Wire& behaviour) {
    ConnectionOptions options;
    options.max_rd_atomic = options.max_dest_rd_atomic = 2;
    connect(options);
    wire = [this, behaviour](const Packet& packet) {
      ++sent_;
      return behaviour(packet);
    };
    for (testing::Side* side : {&a, &b}) {
      side->fill(0, kLength, 1);
      side->fill(kReadSource, kLength * kRounds, 2);
    }
    for (std::uint64_t i = 0; i < kRounds; ++i) {
      post_round(a, b, i);
      post_round(b, a, i);
    }
    settle();
    verify(a);
    verify(b);
    return sent_;
  }

 private:
  static void post_round(testing::Side& from, testing::Side& to, std::uint64_t i) {
    ASSERT_EQ(to.post_recv(100 + 2 * i, kReceives + 2 * i * kLength, kLength), 0);
    ASSERT_EQ(to.post_recv(101 + 2 * i, 0, 0), 0);
    const std::size_t place = i * kLength;
    ASSERT_EQ(from.post_send(IBV_WR_SEND, 4 * i, 0, kLength), 0);
    ASSERT_EQ(from.post_send(IBV_WR_RDMA_READ, 4 * i + 1, kReadTarget + place, kLength, &to,
                             kReadSource + place),
              0);
    ASSERT_EQ(from.post_send(IBV_WR_RDMA_WRITE_WITH_IMM, 4 * i + 2, 0, kLength, &to,
                             kWriteTarget + place),
              0);
    ASSERT_EQ(from.post_send(IBV_WR_RDMA_WRITE, 4 * i + 3, 0, 10, &to,
                             kWriteTarget + std::size_t{9} * kLength),
              0);
  }

  static void verify(testing::Side& side) {
    std::uint64_t sent = 0;
    std::uint64_t received = 100;
    for (const ibv_wc& wc : side.poll()) {
      EXPECT_EQ(wc.status, IBV_WC_SUCCESS);
      std::uint64_t& expected = (wc.opcode & IBV_WC_RECV) != 0 ? received : sent;
      EXPECT_EQ(wc.wr_id, expected++);
    }
    EXPECT_EQ(sent, 4 * kRounds);
    EXPECT_EQ(received, 100 + 2 * kRounds);
    EXPECT_TRUE(side.filled(kReadTarget, kLength * kRounds, 2));
    for (std::size_t i = 0; i < kRounds; ++i) {
      EXPECT_TRUE(side.filled(kReceives + 2 * i * kLength, kLength, 1));
      EXPECT_TRUE(side.filled(kWriteTarget + i * kLength, kLength, 1));
    }
  }

  int sent_ = 0;
};

class OnePacket : public ::testing::TestWithParam<Fault> {};

TEST_P(OnePacket, MayBeHitAnywhereInAConversation) {
  const int packets = Conversation().run([](const Packet&) { return 1; });
  EXPECT_GT(packets, 50);
  for (int unlucky = 0; unlucky < packets; ++unlucky) {
    SCOPED_TRACE(unlucky);
    int count = 0;
    Conversation().run([&](const Packet&) { return count++ == unlucky ? verdict(GetParam()) : 1; });
  }
}

TEST_P(OnePacket, OfEachKindMayBeHitThreeTimesInARow) {
  for (int opcode = 0; opcode <= roce::kRcAcknowledge; ++opcode) {
    SCOPED_TRACE(roce::kOpcodes[static_cast<std::size_t>(opcode)].name);
    int count = 0;
    Conversation().run([&](const Packet& packet) {
      return packet.storage[0] == opcode && count++ < 3 ? verdict(GetParam()) : 1;
    });
  }
}

INSTANTIATE_TEST_SUITE_P(RcFaults, OnePacket,
                         ::testing::Values(Fault::kLose, Fault::kDuplicate, Fault::kOvertaken,
                                           Fault::kOvertakenByMany));

TEST(RcFaults, ABadWireOnlyCostsTime) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE(seed);
    testing::FakeRandom random(seed);
    Conversation().run([&random](const Packet&) {
      const std::uint64_t draw = random.below(20);
      if (draw == 0) return 0;
      if (draw == 1) return 2;
      return draw == 2 ? -static_cast<int>(1 + random.below(6)) : 1;
    });
  }
}

}  // namespace
}  // namespace anyrdma::verbs::soft
