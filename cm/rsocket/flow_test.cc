// Two ends of a stream that write into each other's memory, without a device.
#include "cm/rsocket/flow.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <random>
#include <string>
#include <vector>

namespace anyrdma::rsocket {
namespace {

/// One end: a Flow, its buffers, and what is on its way to the other end.
class End {
 public:
  explicit End(const Sizes& sizes)
      : flow(sizes),
        sizes_(sizes),
        send_buffer_(sizes.send_buffer),
        receive_buffer_(sizes.receive_buffer) {}

  [[nodiscard]] ConnectData data() const {
    return {.credits = static_cast<std::uint16_t>(sizes_.receive_queue),
            .targets = {.address = kTable, .key = 1, .length = kTargets},
            .first = {.address = 0, .key = 2, .length = sizes_.receive_buffer / 2}};
  }
  /// Sends what fits of `bytes`; returns how much.
  std::size_t send(std::string_view bytes) {
    std::size_t sent = 0;
    while (sent < bytes.size() && flow.can_send()) {
      const Flow::Transfer transfer = flow.take(bytes.size() - sent);
      std::memcpy(&send_buffer_[transfer.from.offset], bytes.data() + sent, transfer.from.length);
      on_its_way.push_back({transfer.message, transfer.address, transfer.from.offset, {}});
      sent += transfer.from.length;
    }
    return sent;
  }
  /// Reads at most `most` bytes.
  std::string read(std::size_t most) {
    std::string all;
    while (all.size() < most) {
      const Flow::Part part = flow.peek(0, most - all.size());
      if (part.length == 0) break;
      all.append(&receive_buffer_[part.offset], part.length);
      flow.consume(part.length);
    }
    update();
    return all;
  }
  void update() {
    while (const auto update = flow.next_update()) {
      Flight flight{update->message, 0, 0, {}};
      if (update->grant) {
        flight.address = update->grant->address;
        flight.target = {.address = update->grant->of_receive_buffer.offset,
                         .key = 2,
                         .length = update->grant->of_receive_buffer.length};
      }
      on_its_way.push_back(flight);
    }
  }
  /// Delivers the oldest message to `other`, and completes it here.
  void deliver_one(End& other) {
    const Flight flight = on_its_way.front();
    on_its_way.pop_front();
    if (flight.message.kind == Kind::kData) {
      ASSERT_LE(flight.address + flight.message.value, other.receive_buffer_.size());
      std::memcpy(&other.receive_buffer_[flight.address], &send_buffer_[flight.offset],
                  flight.message.value);
      ASSERT_TRUE(other.flow.on_data(flight.message.value));
      flow.on_sent(flight.message.value);
      return;
    }
    other.flow.on_credit(flight.message.value);
    if (flight.target.length != 0) {
      ASSERT_EQ(flight.address, kTable + other.flow.next_target() * kTargetSize);
      ASSERT_TRUE(other.flow.on_target(flight.target));
    }
    flow.on_control_sent();
  }

  struct Flight {
    Message message;
    std::uint64_t address = 0;
    std::uint32_t offset = 0;
    Target target;
  };
  static constexpr std::uint64_t kTable = 0x10000;
  Flow flow;
  std::deque<Flight> on_its_way;

 private:
  Sizes sizes_;
  std::vector<char> send_buffer_;
  std::vector<char> receive_buffer_;
};

constexpr Sizes kSmall{
    .send_queue = 16, .receive_queue = 16, .send_buffer = 96, .receive_buffer = 128};

class TwoEnds : public ::testing::TestWithParam<unsigned> {
 protected:
  TwoEnds() {
    a.flow.begin(b.data());
    b.flow.begin(a.data());
    a.update();
    b.update();
  }
  void deliver_all() {
    while (!a.on_its_way.empty() || !b.on_its_way.empty()) {
      if (!a.on_its_way.empty()) a.deliver_one(b);
      if (!b.on_its_way.empty()) b.deliver_one(a);
    }
  }
  End a{kSmall};
  End b{kSmall};
};

TEST_F(TwoEnds, GrantTheSecondHalfOfTheBufferAtOnce) {
  ASSERT_EQ(b.on_its_way.size(), 1U);
  EXPECT_EQ(b.on_its_way.front().target, (Target{.address = 64, .key = 2, .length = 64}));
  EXPECT_EQ(b.on_its_way.front().address, End::kTable + kTargetSize);
  EXPECT_EQ(b.on_its_way.front().message, (Message{.kind = Kind::kCredit, .value = 16}));
}

TEST_F(TwoEnds, SendNoMoreThanTheBufferOfAPeerThatDoesNotRead) {
  const std::string text(1000, 'x');
  std::size_t sent = 0;
  for (int i = 0; i < 10; ++i) {
    sent += a.send(text);
    deliver_all();
  }

  EXPECT_EQ(sent, kSmall.receive_buffer);
  EXPECT_FALSE(a.flow.can_send());
  EXPECT_EQ(b.flow.available(), kSmall.receive_buffer);
}

TEST_F(TwoEnds, SendNoMoreMessagesThanTheCreditsOfAPeerThatDoesNotRead) {
  deliver_all();
  std::size_t sent = 0;
  for (int i = 0; i < 40; ++i) {
    sent += a.send("x");
    deliver_all();
  }

  EXPECT_EQ(sent, kSmall.receive_queue);
}

TEST_F(TwoEnds, GiveCreditsWhenHalfOfThemAreUsed) {
  deliver_all();
  for (int i = 0; i < 8; ++i) {
    a.send("x");
    a.deliver_one(b);
    EXPECT_TRUE(b.on_its_way.empty());
    EXPECT_EQ(b.read(1), "x");
  }

  ASSERT_EQ(b.on_its_way.size(), 1U);
  EXPECT_EQ(b.on_its_way.front().message, (Message{.kind = Kind::kCredit, .value = 24}));
  EXPECT_EQ(b.on_its_way.front().target.length, 0U);
}

TEST_F(TwoEnds, RefuseMoreThanTheyHaveGranted) {
  EXPECT_FALSE(b.flow.on_data(kSmall.receive_buffer + 1));
  EXPECT_TRUE(b.flow.on_data(kSmall.receive_buffer));
  EXPECT_FALSE(b.flow.on_data(1));
}

TEST_F(TwoEnds, RefuseATargetWhenAllEntriesAreInUse) {
  EXPECT_TRUE(a.flow.on_target({.address = 64, .key = 2, .length = 64}));
  EXPECT_FALSE(a.flow.on_target({.address = 0, .key = 2, .length = 64}));
}

TEST_F(TwoEnds, CountMessagesModulo65536) {
  for (int i = 0; i < 70000; ++i) {
    ASSERT_EQ(a.send("x"), 1U) << i;
    deliver_all();
    ASSERT_EQ(b.read(1), "x");
    deliver_all();
  }
}

TEST_F(TwoEnds, HaveSentAllOnlyWhenAllHasCompleted) {
  deliver_all();
  EXPECT_TRUE(a.flow.all_sent());
  a.send("x");
  EXPECT_FALSE(a.flow.all_sent());
  a.deliver_one(b);
  EXPECT_TRUE(a.flow.all_sent());
}

// Each seed is another order of sending, delivering and reading, in both directions.
TEST_P(TwoEnds, ExchangeEveryByteInOrderWithoutComingToAHalt) {
  std::mt19937 random(GetParam());
  const auto below = [&random](unsigned limit) { return random() % limit; };
  std::string text(20000, '\0');
  for (char& each : text) each = static_cast<char>(random());
  std::array<End*, 2> ends{&a, &b};
  std::array<std::size_t, 2> sent{};
  std::array<std::string, 2> got;
  for (int step = 0; step < 2'000'000; ++step) {
    const std::size_t i = below(2);
    End& end = *ends[i];
    switch (below(3)) {
      case 0: {
        const std::size_t wanted = std::min<std::size_t>(1 + below(150), text.size() - sent[i]);
        if (wanted != 0) sent[i] += end.send(std::string_view(text).substr(sent[i], wanted));
        break;
      }
      case 1:
        if (!end.on_its_way.empty()) end.deliver_one(*ends[1 - i]);
        end.update();
        break;
      default:
        got[i] += end.read(1 + below(100));
        break;
    }
    if (got[0].size() == text.size() && got[1].size() == text.size()) break;
  }

  EXPECT_EQ(got[0], text);
  EXPECT_EQ(got[1], text);
}
INSTANTIATE_TEST_SUITE_P(Seeds, TwoEnds, ::testing::Range(1U, 31U));

}  // namespace
}  // namespace anyrdma::rsocket
