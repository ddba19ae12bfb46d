// The decorator alone: a carrier below that keeps what it is given, a gate that says what it is
// told to.
#include "transport/station/mishap_carrier.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "verbs/soft/icrc.h"
#include "verbs/soft/mad_packet.h"
#include "verbs/soft/wire/headers.h"

namespace anyrdma::transport::station {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using verbs::Instant;
using verbs::Mishap;
using verbs::PacketWay;
using verbs::soft::Packet;
using verbs::soft::PacketPtr;

constexpr std::size_t kBytes = 64;

std::string name_of(const Packet& packet) {
  return std::string(1, static_cast<char>(packet.storage[kBytes - 5]));
}

struct Below final : Carrier {
  [[nodiscard]] int fd() const override { return -1; }
  void send(PacketPtr packet) override {
    sent.push_back(name_of(*packet));
    last = std::move(packet);
  }
  [[nodiscard]] bool is_own(const Packet&) const override { return all_own; }
  void seal(Packet& packet) const override { roce::seal(packet); }
  void transmit() override {}
  bool poll() override { return false; }
  [[nodiscard]] std::optional<Instant> next_deadline() const override { return std::nullopt; }
  [[nodiscard]] bool has_report() const override { return false; }
  bool report(Instant) override { return false; }
  void flush(std::chrono::milliseconds) override {}
  void close() override {}
  void abandon() override {}

  std::vector<std::string> sent;
  PacketPtr last;
  bool all_own = false;
};

struct Gate final : verbs::PacketGate {
  Mishap on_packet(PacketWay way, std::uint16_t attribute,
                   std::span<std::uint8_t> message) override {
    asked.emplace_back(way, attribute);
    if (next.altered) message.back() ^= 0xff;
    return std::exchange(next, {});
  }
  Mishap next{};
  std::vector<std::pair<PacketWay, std::uint16_t>> asked;
};

class OverCarrier : public ::testing::Test {
 protected:
  PacketPtr packet(char name) {
    PacketPtr packet = pool_.take();
    packet->size = kBytes;
    packet->storage.fill(0);
    packet->storage[kBytes - 5] = static_cast<std::uint8_t>(name);
    return packet;
  }
  void send(char name, const Mishap& mishap = {}) {
    gate_.next = mishap;
    carrier_.send(packet(name));
  }
  void arrive(char name, const Mishap& mishap = {}) {
    gate_.next = mishap;
    carrier_.on_packet(packet(name));
  }
  /// Until nothing is late any more, or somebody has waited in vain.
  void await_all() {
    const auto end = std::chrono::steady_clock::now() + 30s;
    while (carrier_.next_deadline() && std::chrono::steady_clock::now() < end) carrier_.poll();
    EXPECT_FALSE(carrier_.next_deadline());
  }

  verbs::soft::PacketPool pool_;
  Gate gate_;
  Below* below_ = new Below;
  std::vector<std::string> arrived_;
  PacketPtr arrived_last_;
  MishapCarrier carrier_{std::unique_ptr<Carrier>(below_),
                         [this](PacketPtr packet) {
                           arrived_.push_back(name_of(*packet));
                           arrived_last_ = std::move(packet);
                         },
                         pool_, &gate_};
};

TEST_F(OverCarrier, WhatMeetsWithNothingPasses) {
  send('a');
  arrive('b');

  EXPECT_THAT(below_->sent, ElementsAre("a"));
  EXPECT_THAT(arrived_, ElementsAre("b"));
  EXPECT_EQ(gate_.asked[0].first, PacketWay::kOut);
  EXPECT_EQ(gate_.asked[1].first, PacketWay::kIn);
}

TEST_F(OverCarrier, WhatIsLostIsGone) {
  send('a', {.lost = true});
  arrive('b', {.lost = true});
  await_all();

  EXPECT_THAT(below_->sent, IsEmpty());
  EXPECT_THAT(arrived_, IsEmpty());
}

TEST_F(OverCarrier, WhatIsDuplicatedComesOnceMore) {
  send('a', {.copies = 1});
  arrive('b', {.copies = 2});

  EXPECT_THAT(below_->sent, ElementsAre("a", "a"));
  EXPECT_THAT(arrived_, ElementsAre("b", "b", "b"));
}

TEST_F(OverCarrier, WhatIsLateIsOvertakenByWhatIsNot) {
  send('a', {.late = 3h});
  send('c', {.late = 1h});
  send('d');
  EXPECT_THAT(below_->sent, ElementsAre("d"));
  ASSERT_TRUE(carrier_.next_deadline());

  carrier_.flush(0ms);

  EXPECT_THAT(below_->sent, ElementsAre("d", "c", "a"));
}

TEST_F(OverCarrier, WhatIsLateComes) {
  arrive('a', {.late = 1ms});
  send('b', {.late = 1ms});
  EXPECT_THAT(arrived_, IsEmpty());
  EXPECT_THAT(below_->sent, IsEmpty());

  await_all();

  EXPECT_THAT(arrived_, ElementsAre("a"));
  EXPECT_THAT(below_->sent, ElementsAre("b"));
}

TEST_F(OverCarrier, OnePacketChangesPlacesWithTheNext) {
  send('a', {.overtaken = true});
  arrive('x');  // on another way
  EXPECT_THAT(below_->sent, IsEmpty());

  send('b');
  send('c');

  EXPECT_THAT(below_->sent, ElementsAre("b", "a", "c"));
}

TEST_F(OverCarrier, WhatNobodyOvertakesComesAllTheSame) {
  arrive('a', {.overtaken = true});

  await_all();

  EXPECT_THAT(arrived_, ElementsAre("a"));
}

TEST_F(OverCarrier, WhatIsCorruptedIsSeenToBe) {
  for (std::uint64_t chance = 0; chance < (kBytes - roce::Bth::kBytes) * 8; ++chance) {
    send('a', {.corrupted = true, .chance = chance});

    Packet& got = *below_->last;
    EXPECT_TRUE(got.icrc_valid);
    EXPECT_FALSE(roce::icrc_ok(got));
    got.ip_fields_hidden = true;  // as over a UDP socket
    EXPECT_FALSE(roce::icrc_ok(got));
  }
}

TEST_F(OverCarrier, WhatIsAlteredIsWholeForWhoeverChecksIt) {
  for (const bool sealed : {false, true}) {
    PacketPtr message = pool_.take();
    std::array<std::uint8_t, verbs::soft::kMadBytes> mad{};
    verbs::soft::write_mad(*message, {}, {}, mad);
    if (sealed) roce::seal(*message);
    gate_.next = {.altered = true};
    carrier_.on_packet(std::move(message));

    Packet& got = *arrived_last_;
    EXPECT_EQ(verbs::soft::mad_in(got)->back(), 0xff);
    EXPECT_EQ(got.icrc_valid, sealed);
    EXPECT_TRUE(!sealed || roce::icrc_ok(got));
  }
}

TEST_F(OverCarrier, WhatIsForOurselvesIsOnNoWay) {
  below_->all_own = true;
  send('a', {.lost = true});

  EXPECT_THAT(below_->sent, ElementsAre("a"));
  EXPECT_THAT(gate_.asked, IsEmpty());
}

TEST_F(OverCarrier, WithoutAGateNothingHappens) {
  carrier_.set_gate(nullptr);
  send('a', {.lost = true});
  arrive('b', {.lost = true});

  EXPECT_THAT(below_->sent, ElementsAre("a"));
  EXPECT_THAT(arrived_, ElementsAre("b"));
  EXPECT_THAT(gate_.asked, IsEmpty());
}

TEST_F(OverCarrier, WhoLeavesHasSentWhatIsStillOnItsWay) {
  send('a', {.late = 1h});
  arrive('b', {.late = 1h});

  carrier_.flush(0ms);

  EXPECT_THAT(below_->sent, ElementsAre("a"));
  EXPECT_THAT(arrived_, IsEmpty());
}

TEST_F(OverCarrier, SaysWhichMessageOfTheConnectionManagerAPacketCarries) {
  std::array<std::uint8_t, verbs::soft::kMadBytes> mad{};
  mad[17] = 0x13;  // REP
  PacketPtr packet = pool_.take();
  verbs::soft::write_mad(*packet, {}, {}, mad);

  carrier_.send(std::move(packet));

  EXPECT_THAT(gate_.asked, ElementsAre(std::pair(PacketWay::kOut, std::uint16_t{0x13})));
}

}  // namespace
}  // namespace anyrdma::transport::station
