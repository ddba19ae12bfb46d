#include "sim/tcp/endpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace anyrdma::sim::tcp {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr Duration kLatency = 1ms;

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// Two ends and what is on the way between them. The server's end is made by the first request.
class Connection : public ::testing::Test {
 protected:
  enum Side : int { kClient, kServer };

  Connection() { ends[kClient] = std::make_unique<Endpoint>(Endpoint::connect(1000)); }

  /// All that happens until then.
  void run_until(Instant end) {
    for (;;) {
      flush();
      Instant next = under_way_.empty() ? end : under_way_.begin()->first;
      for (const auto& each : ends) {
        if (each != nullptr && each->deadline()) next = std::min(next, *each->deadline());
      }
      if (next >= end) break;
      now = next;
      for (const auto& each : ends) {
        if (each != nullptr && each->deadline() && *each->deadline() <= now) each->on_timer(now);
      }
      flush();
      while (!under_way_.empty() && under_way_.begin()->first <= now) arrive();
    }
    now = end;
  }
  void run_for(Duration duration) { run_until(now + duration); }
  void open() {
    run_for(10 * kLatency);
    ASSERT_EQ(client().state(), State::kOpen);
    ASSERT_EQ(server().state(), State::kOpen);
    sent.clear();
  }
  Endpoint& client() { return *ends[kClient]; }
  Endpoint& server() { return *ends[kServer]; }
  /// All that it has, as text.
  static std::string read(Endpoint& end) {
    const auto bytes = end.received();
    std::string text(bytes.begin(), bytes.end());
    end.take(text.size());
    return text;
  }

  std::unique_ptr<Endpoint> ends[2];
  Instant now{};
  std::vector<std::string> sent;  ///< "> SYN 0 ack 0 +0", in numbers from the beginning
  bool listening = true;
  /// Whether a segment gets lost; it says who sent it and how many have been sent before.
  std::function<bool(Side, std::size_t, const Segment&)> loses;
  std::function<Duration(std::size_t)> lateness;

 private:
  struct Flight {
    Side to;
    Segment segment;
    std::vector<std::uint8_t> data;
  };

  void flush() {
    for (const Side side : {kClient, kServer}) {
      while (ends[side] != nullptr) {
        const auto segment = ends[side]->next_segment(now);
        if (!segment) break;
        launch(side, *segment);
      }
    }
  }
  void launch(Side from, const Segment& segment) {
    const std::uint32_t own = from == kClient ? 1000 : 0xffff'fff0;
    const std::uint32_t other = from == kClient ? 0xffff'fff0 : 1000;
    std::string line = from == kClient ? ">" : "<";
    if (segment.has(kSyn)) line += " SYN";
    if (segment.has(kFin)) line += " FIN";
    if (segment.has(kRst)) line += " RST";
    line += " " + std::to_string(segment.sequence - own);
    if (segment.has(kAck)) line += " ack " + std::to_string(segment.acknowledged - other);
    sent.push_back(line + " +" + std::to_string(segment.data.size()));
    const std::size_t number = count_++;
    if (loses && loses(from, number, segment)) return;
    const Duration late = lateness ? lateness(number) : Duration{};
    under_way_.emplace(now + kLatency + late, Flight{from == kClient ? kServer : kClient,
                                                     segment,
                                                     {segment.data.begin(), segment.data.end()}});
  }
  void arrive() {
    auto flight = under_way_.extract(under_way_.begin()).mapped();
    flight.segment.data = flight.data;
    auto& end = ends[flight.to];
    if (end != nullptr) return end->on_segment(now, flight.segment);
    if (listening && flight.segment.has(kSyn) && !flight.segment.has(kAck)) {
      end = std::make_unique<Endpoint>(Endpoint::accept(0xffff'fff0, flight.segment));
    } else if (const auto answer = answer_of_nobody(flight.segment)) {
      launch(flight.to, *answer);
    }
  }

  std::multimap<Instant, Flight> under_way_;
  std::size_t count_ = 0;
};

TEST_F(Connection, IsMadeInARoundTripAndCarriesData) {
  run_until(Instant{} + 2 * kLatency);
  EXPECT_EQ(client().state(), State::kSynSent);
  run_until(Instant{} + 2 * kLatency + 1ns);
  EXPECT_EQ(client().state(), State::kOpen);
  client().write(bytes_of("hello"));
  run_for(10 * kLatency);

  EXPECT_EQ(read(server()), "hello");
  EXPECT_THAT(sent, ElementsAre("> SYN 0 +0", "< SYN 0 ack 1 +0", "> 1 ack 1 +0", "> 1 ack 1 +5",
                                "< 1 ack 6 +0"));
}

TEST_F(Connection, IsClosedByBothOneAfterTheOther) {
  open();
  client().finish();
  run_for(10 * kLatency);
  EXPECT_TRUE(server().at_end());
  EXPECT_FALSE(client().at_end());
  server().write(bytes_of("the rest"));
  server().finish();
  run_for(10 * kLatency);

  EXPECT_EQ(read(client()), "the rest");
  EXPECT_TRUE(client().at_end());
  EXPECT_EQ(client().state(), State::kTimeWait);
  EXPECT_EQ(server().state(), State::kClosed);
  EXPECT_EQ(client().error() | server().error(), 0);
  EXPECT_THAT(sent,
              ElementsAre("> FIN 1 ack 1 +0", "< 1 ack 2 +0", "< FIN 1 ack 2 +8", "> 2 ack 10 +0"));
}

TEST_F(Connection, WhoHasFinishedFirstRepeatsTheLastWord) {
  open();
  loses = [](Side side, std::size_t number, const Segment&) {
    return side == kClient && number == 6;  // it acknowledges the server's end
  };
  client().finish();
  run_for(10 * kLatency);
  server().finish();
  run_for(1s);
  EXPECT_EQ(server().state(), State::kClosed);
  EXPECT_EQ(server().error(), 0);
}

TEST_F(Connection, IsRefusedWhereNobodyListens) {
  listening = false;
  run_for(2 * kLatency + 1ns);
  EXPECT_EQ(client().error(), ECONNREFUSED);
  EXPECT_EQ(client().state(), State::kClosed);
}

TEST_F(Connection, IsOneIfBothAskAtOnce) {
  ends[kServer] = std::make_unique<Endpoint>(Endpoint::connect(0xffff'fff0));
  run_for(10 * kLatency);
  EXPECT_EQ(client().state(), State::kOpen);
  EXPECT_EQ(server().state(), State::kOpen);
  client().write(bytes_of("hello"));
  server().write(bytes_of("hi"));
  run_for(10 * kLatency);

  EXPECT_EQ(read(server()), "hello");
  EXPECT_EQ(read(client()), "hi");
}

TEST_F(Connection, IsOneIfBothAskAtOnceAndAnAnswerIsLost) {
  for (const std::size_t lost : {1u, 2u}) {
    ends[kClient] = std::make_unique<Endpoint>(Endpoint::connect(1000));
    ends[kServer] = std::make_unique<Endpoint>(Endpoint::connect(0xffff'fff0));
    std::size_t seen = 0;
    loses = [&seen, lost](Side side, std::size_t, const Segment&) {
      return side == kClient && ++seen == lost;
    };
    run_for(8s);
    EXPECT_EQ(client().state(), State::kOpen) << lost;
    EXPECT_EQ(server().state(), State::kOpen) << lost;
    server().write(bytes_of("hi"));
    run_for(1s);
    EXPECT_EQ(read(client()), "hi") << lost;
  }
}

TEST_F(Connection, IsGivenUpAfter127SecondsWithoutAnAnswer) {
  loses = [](Side, std::size_t, const Segment&) { return true; };
  run_until(Instant{} + 127s);
  EXPECT_EQ(client().state(), State::kSynSent);
  run_for(1ns);
  EXPECT_EQ(client().error(), ETIMEDOUT);
  EXPECT_THAT(sent, SizeIs(7));
}

TEST_F(Connection, IsMadeByARepetitionOfWhatWasLost) {
  loses = [](Side, std::size_t number, const Segment&) { return number < 3; };
  run_for(8s);
  EXPECT_EQ(client().state(), State::kOpen);
  EXPECT_EQ(server().state(), State::kOpen);
}

TEST_F(Connection, IsGivenUpAfterAQuarterOfAnHourOfSilence) {
  open();
  loses = [](Side, std::size_t, const Segment&) { return true; };
  const Instant begin = now;
  client().write(bytes_of("hello"));
  run_until(begin + 925s);
  EXPECT_EQ(client().error(), 0);
  run_until(begin + 928s);
  EXPECT_EQ(client().error(), ETIMEDOUT);
  EXPECT_THAT(sent, SizeIs(16));
}

TEST_F(Connection, WhatWasSentDuringACutArrivesAfterwards) {
  open();
  loses = [](Side, std::size_t, const Segment&) { return true; };
  client().write(bytes_of("hel"));
  run_for(1s);
  client().write(bytes_of("lo"));
  run_for(1s);
  EXPECT_EQ(read(server()), "");
  loses = nullptr;
  run_for(4s);
  EXPECT_EQ(read(server()), "hello");
}

TEST_F(Connection, LosesNoByteWhateverIsLostOrOvertaken) {
  open();
  loses = [](Side, std::size_t number, const Segment&) { return number * 2654435761u % 11 == 0; };
  lateness = [](std::size_t number) { return number * 40503u % 5 == 0 ? 3 * kLatency : 0ms; };
  std::string given;
  std::string got;
  for (int i = 0; i < 400; ++i) {
    std::string some(static_cast<std::size_t>(i) * 37 % 3000, static_cast<char>('a' + i % 26));
    some.resize(std::min(some.size(), client().room()));
    if (!some.empty()) client().write(bytes_of(some));
    given += some;
    run_for(10ms);
    got += read(server());
  }
  client().finish();
  for (int i = 0; i < 100; ++i) {
    run_for(1s);
    got += read(server());
  }
  EXPECT_GT(given.size(), 100'000u);
  EXPECT_EQ(got, given);
  EXPECT_TRUE(server().at_end());
}

TEST_F(Connection, WhoOutrunsTheReaderWaits) {
  open();
  std::size_t given = 0;
  while (client().room() != 0) {
    const std::string some(client().room(), 'x');
    client().write(bytes_of(some));
    given += some.size();
    run_for(1s);
    ASSERT_LE(given, 3 * kBufferMax);
  }
  EXPECT_GT(given, kBufferMax) << "one end's buffer is full, and the other's";
  run_for(10s);
  EXPECT_EQ(client().room(), 0u);

  std::size_t got = read(server()).size();
  run_for(10s);
  got += read(server()).size();
  EXPECT_EQ(got, given);
}

TEST_F(Connection, AWindowWhoseOpeningWasLostIsAskedFor) {
  open();
  const std::string much(kBufferMax, 'x');
  client().write(bytes_of(much));
  run_for(1s);
  client().write(bytes_of("more"));
  run_for(10ms);
  loses = [](Side side, std::size_t, const Segment&) { return side == kServer; };
  std::string got = read(server());
  run_for(1s);
  EXPECT_LT(got.size(), much.size() + 4);
  loses = nullptr;
  run_for(10s);
  EXPECT_EQ(got + read(server()), much + "more");
}

TEST_F(Connection, WhoClosesWithDataUnreadResets) {
  open();
  client().write(bytes_of("hello"));
  run_for(10 * kLatency);
  server().stop_reading();
  run_for(10 * kLatency);
  EXPECT_EQ(server().state(), State::kClosed);
  EXPECT_EQ(client().error(), ECONNRESET);
}

TEST_F(Connection, DataForWhoHasClosedIsAnsweredByAReset) {
  open();
  server().finish();
  server().stop_reading();
  run_for(10 * kLatency);
  EXPECT_TRUE(client().at_end());
  EXPECT_EQ(client().error(), 0);
  client().write(bytes_of("hello"));
  run_for(10 * kLatency);
  EXPECT_EQ(client().error(), EPIPE);
}

TEST_F(Connection, AHostThatHasForgottenItResets) {
  open();
  ends[kServer].reset();
  listening = false;
  client().write(bytes_of("hello"));
  run_for(10 * kLatency);
  EXPECT_EQ(client().error(), ECONNRESET);
}

TEST_F(Connection, ASilentPeerIsNoticedByProbes) {
  open();
  client().set_keepalive(now, Keepalive{.idle = 10s, .interval = 2s, .probes_max = 3});
  const Instant begin = now;
  loses = [](Side, std::size_t, const Segment&) { return true; };
  run_until(begin + 16s);
  EXPECT_EQ(client().error(), 0);
  EXPECT_THAT(sent, ElementsAre("> 0 ack 1 +0", "> 0 ack 1 +0", "> 0 ack 1 +0"));
  run_for(1ns);
  EXPECT_EQ(client().error(), ETIMEDOUT);
  EXPECT_EQ(client().state(), State::kClosed);
  EXPECT_EQ(sent.back(), "> RST 1 ack 1 +0");
}

TEST_F(Connection, APeerThatAnswersProbesIsKept) {
  open();
  client().set_keepalive(now, Keepalive{.idle = 10s, .interval = 1s, .probes_max = 1});
  run_for(35s);
  EXPECT_EQ(client().state(), State::kOpen);
  EXPECT_THAT(sent, ElementsAre("> 0 ack 1 +0", "< 1 ack 1 +0", "> 0 ack 1 +0", "< 1 ack 1 +0",
                                "> 0 ack 1 +0", "< 1 ack 1 +0"));
  client().set_keepalive(now, std::nullopt);
  sent.clear();
  run_for(100s);
  EXPECT_THAT(sent, IsEmpty());
}

TEST_F(Connection, DataThatIsRepeatedNeedsNoProbes) {
  open();
  client().set_keepalive(now, Keepalive{.idle = 1s, .interval = 1s, .probes_max = 1});
  loses = [](Side, std::size_t, const Segment&) { return true; };
  client().write(bytes_of("hello"));
  run_for(100s);
  EXPECT_EQ(client().state(), State::kOpen);
}

TEST_F(Connection, KeepaliveBeginsWithTheConnection) {
  client().set_keepalive(now, Keepalive{.idle = 1s, .interval = 1s, .probes_max = 1});
  EXPECT_EQ(client().deadline(), std::nullopt);
  open();
  run_for(1s);
  EXPECT_THAT(sent, ElementsAre("> 0 ack 1 +0", "< 1 ack 1 +0"));
}

TEST_F(Connection, IsForgottenAMinuteAfterItsLastEnd) {
  open();
  client().finish();
  client().stop_reading();
  run_for(10 * kLatency);
  ASSERT_TRUE(client().forgotten_at().has_value()) << "FIN_WAIT_2";
  EXPECT_EQ(*client().forgotten_at(), now - 10 * kLatency + 2 * kLatency + 60s);
  run_for(5s);
  server().finish();
  run_for(10 * kLatency);
  EXPECT_EQ(client().state(), State::kTimeWait);
  EXPECT_EQ(*client().forgotten_at(), now - 10 * kLatency + kLatency + 60s);
  EXPECT_EQ(server().forgotten_at(), std::nullopt);
}

TEST_F(Connection, WhoStillReadsWaitsForTheEndOfThePeer) {
  open();
  client().finish();
  run_for(1s);
  EXPECT_EQ(client().forgotten_at(), std::nullopt);
}

TEST_F(Connection, WhoAsksAnewWithTheNumbersOfAnOldConnectionGetsRidOfIt) {
  open();
  ends[kClient] = std::make_unique<Endpoint>(Endpoint::connect(70'000));
  run_for(10 * kLatency);
  EXPECT_EQ(server().error(), ECONNRESET);
  ends[kServer].reset();
  run_for(2s);
  EXPECT_EQ(client().state(), State::kOpen);
}

TEST_F(Connection, AResetThatIsNoneOfThePeersChangesNothing) {
  open();
  client().on_segment(now, {.sequence = 12345, .flags = kRst});
  EXPECT_EQ(client().state(), State::kOpen);
}

}  // namespace
}  // namespace anyrdma::sim::tcp
