// The kit on programs that keep their promises, and on programs that do not.
#include "sim/testing/two_rails.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <memory>

#include "sim/testing/program.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

constexpr std::size_t kReceives = 4;
constexpr std::uint32_t kBytes = 8;

/// What a program does wrong.
struct Habits {
  bool sends_again = true;    ///< on the other rail, when the first one has failed
  bool knows_numbers = true;  ///< delivers each item once
};

/// A receiver on one rail: each message has the number of an item.
void receive(TwoRails& rails, std::size_t rail, std::uint64_t& next, const Habits& habits) {
  Program program(rails.server());
  const auto listener = program.listen(rails.address(rail, kPort));
  const auto id = program.expect_request();
  if (!id) return;
  Pipe pipe(*id);
  for (std::size_t n = 0; n < kReceives; ++n) pipe.post_receive(n, n * kBytes, kBytes);
  const rdma_conn_param answer = parameters("");
  if (!id->accept(&answer)) return;
  while (true) {
    const ibv_wc wc = pipe.wait_received();
    if (wc.status != IBV_WC_SUCCESS) return;
    std::uint64_t item = 0;
    std::memcpy(&item, pipe.buffer().data() + wc.wr_id * kBytes, sizeof item);
    if (item >= next || !habits.knows_numbers) rails.delivered(item);
    next = std::max(next, item + 1);
    pipe.post_receive(wc.wr_id, wc.wr_id * kBytes, kBytes);
  }
}

/// Sends one item after the other, over rail 0 as long as it works.
void send(TwoRails& rails, std::uint64_t items, const Habits& habits) {
  Program program(rails.client());
  std::unique_ptr<cm::Id> ids[2];
  std::unique_ptr<Pipe> pipes[2];
  for (std::size_t rail = 0; rail < 2; ++rail) {
    ids[rail] = program.make_id();
    const sockaddr_storage to = rails.address(rail, kPort).to_sockaddr();
    (void)ids[rail]->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&to), kPatience);
    if (program.next()->type() != RDMA_CM_EVENT_ADDR_RESOLVED) continue;
    (void)ids[rail]->resolve_route(kPatience);
    if (program.next()->type() != RDMA_CM_EVENT_ROUTE_RESOLVED) continue;
    auto pipe = std::make_unique<Pipe>(*ids[rail]);
    rdma_conn_param request = parameters("");
    request.retry_count = 1;
    (void)ids[rail]->connect(&request);
    if (program.next()->type() == RDMA_CM_EVENT_ESTABLISHED) pipes[rail] = std::move(pipe);
  }
  std::size_t use = pipes[0] ? 0 : 1;
  for (std::uint64_t item = 0; item < items; ++item) {
    rails.sent(item);
    while (use < 2 && pipes[use]) {
      std::memcpy(pipes[use]->buffer().data(), &item, sizeof item);
      pipes[use]->post(IBV_WR_SEND, item, 0, kBytes);
      if (pipes[use]->wait_sent().status == IBV_WC_SUCCESS) break;
      ++use;
      if (!habits.sends_again) break;
    }
    rails.client().sleep(100us);
  }
}

/// The problems of programs with these habits.
std::vector<std::string> problems(const RailFailures& failures, const Habits& habits) {
  std::vector<std::unique_ptr<std::uint64_t>> counters;  // of all runs
  return problems_with_rails(failures, [&](TwoRails& rails) {
    std::uint64_t& next = *counters.emplace_back(std::make_unique<std::uint64_t>(0));
    for (std::size_t rail = 0; rail < 2; ++rail)
      rails.server().spawn(
          "receive", [&rails, rail, &next, habits] { receive(rails, rail, next, habits); },
          Ending::kMayServe);
    rails.client().spawn(
        "send", [&rails, items = failures.promise.items, habits] { send(rails, items, habits); });
  });
}

RailFailures usual() {
  return {.promise = {.items = 12, .recovery = 20s}, .moments = 8};
}

TEST(TwoRails, AProgramThatSendsAgainAndKnowsNumbersKeepsItsPromises) {
  EXPECT_THAT(problems(usual(), {}), IsEmpty());
}

TEST(TwoRails, AProgramThatDoesNotSendAgainLosesAnItem) {
  EXPECT_THAT(problems(usual(), {.sends_again = false}),
              AllOf(Not(IsEmpty()), ::testing::Each(AllOf(StartsWith("at "), HasSubstr(" lost")))));
}

TEST(TwoRails, ARecoveryThatTakesLongerThanPromisedIsReported) {
  RailFailures failures = usual();
  failures.promise.recovery = 1ms;

  EXPECT_THAT(problems(failures, {}), Contains(HasSubstr("promised are 0.001000000 s")));
}

TEST(TwoRails, AWrongActionIsReported) {
  RailFailures failures = usual();
  failures.moments = 1;
  failures.actions = {"cut-rail client eth7"};

  EXPECT_THAT(problems(failures, {}), ElementsAre(HasSubstr("no interface 'eth7' on that host")));
}

TEST(TwoRails, WhatFailsWithoutAFailureIsReportedOnce) {
  RailFailures failures = usual();
  failures.promise.recovery = 0ns;

  EXPECT_THAT(problems(failures, {}), ::testing::Each(StartsWith("without a failure: item ")));
}

}  // namespace
}  // namespace anyrdma::sim::testing
