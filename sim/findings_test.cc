// What programs and checkers complain of during an exploration.
#include "sim/findings.h"

#include <gtest/gtest.h>

#include <chrono>

#include "sim/explore/explore.h"
#include "sim/testing/program.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;

TEST(Findings, WhatIsSaidOutsideOfAnExplorationIsNotNoted) {
  sometimes("nobody listens", true);
  EXPECT_FALSE(complain("nobody listens"));
}

TEST(Findings, AComplaintIsAProblem) {
  const Exploration found = explore({.runs = 3}, [](const Trial& trial) {
    const bool noted = trial.seed == 2 && complain("it is the second");
    EXPECT_EQ(noted, trial.seed == 2);
    return Outcome{};
  });

  ASSERT_TRUE(found.failure);
  EXPECT_EQ(found.failure->outcome.problem, "it is the second\n");
}

TEST(Findings, AProgramsMistakeIsAProblemThatNamesCallHostIdEventAndTime) {
  const Exploration found = explore({.runs = 1}, [](const Trial& trial) {
    World world(trial.seed);
    Host& host = world.add_host("client", {"192.0.2.1"});
    host.spawn("main", [&] {
      Program self(host);
      const auto id = self.make_id();
      const sockaddr_storage own = host.address(7471).to_sockaddr();
      const auto* to = reinterpret_cast<const sockaddr*>(&own);
      EXPECT_TRUE(id->resolve_addr(nullptr, to, kPatience));
      rdma_cm_event* event = self.next()->release();
      EXPECT_TRUE(host.sleep(2s));
      EXPECT_TRUE(cm::Event::ack(event));
      EXPECT_FALSE(cm::Event::ack(event));
    });
    return finish(world);
  });

  ASSERT_TRUE(found.failure);
  EXPECT_EQ(found.failure->outcome.problem,
            "misuse: client: rdma_ack_cm_event: id 1: ADDR_RESOLVED status 0 was acknowledged "
            "already; it was fetched at 0.000000000 s by client/main (at 2.000000000 s by "
            "client/main)\n");
}

}  // namespace
}  // namespace anyrdma::sim::testing
