// What makes a simulated test fail although none of its own expectations does.
#include "sim/testing/audit.h"

#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>

#include <chrono>

#include "sim/testing/life.h"
#include "sim/testing/program.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;

void plan_in_vain(const char* plan) {
  World world(1);
  world.add_host("server", {"192.0.2.2"});
  ASSERT_TRUE(world.faults().inject(FaultPlan::parse(plan).value()));
  world.run_for(1s);
}

TEST(Audit, APlannedFaultThatDidNotHappenIsAFailure) {
  EXPECT_NONFATAL_FAILURE(plan_in_vain("on server request 9: reject 28\n"),
                          "planned 1, armed 0, fired 0, observed 0: on server request 9");
}

TEST(Audit, AFaultThatMayStayAwayIsNone) {
  plan_in_vain("maybe on server request 9: reject 28\n");
}

TEST(Audit, NoWorldIsWatchedMeanwhile) {
  const Unaudited nobody_looks;
  plan_in_vain("on server request 9: reject 28\n");
}

/// Tells the world's monitor of an event that never was.
void pretend(rdma_cm_event_type type) {
  World world(7);
  Host& host = world.add_host("server", {"192.0.2.2"});
  Program program(host);
  const auto id = program.make_id();
  world.monitor()->on_entry(recording::entry_of<recording::EntryKind::kQueued>(
      0u, id->number(), 0u, static_cast<std::uint64_t>(type), 0, 0u, ""));
}

TEST(Audit, AnEventThatNoKernelGivesIsAFailureThatNamesTheSeed) {
  EXPECT_NONFATAL_FAILURE(pretend(RDMA_CM_EVENT_TIMEWAIT_EXIT),
                          "server#1: TIMEWAIT_EXIT although it is idle (seed 7)");
}

/// Nothing is kept of it should a test fail, so that nobody asks for more than checkers want.
const WorldOptions kUnrecorded{.tracing = Tracing::kOff};

/// Tells it of an id that is never destroyed.
void leak() {
  World world(7);
  world.add_host("server", {"192.0.2.2"});
  world.monitor()->on_entry(
      recording::entry_of<recording::EntryKind::kCalled>(0u, 99u, "bind_addr", 0u, 0u));
}

TEST(Audit, AnIdThatIsNotDestroyedIsAFailure) {
  EXPECT_NONFATAL_FAILURE(leak(), "server#99: never destroyed (seed 7)");
}

/// A process says that an id of its got that event.
void pretend_of_a_process(rdma_cm_event_type type) {
  World world(7, kUnrecorded);
  Host& host = world.add_host("server", {"192.0.2.2"});
  fault::Question opened{.kind = fault::Question::Kind::kOpened};
  (void)host.processes().advise("server/rping[2]", opened);
  ASSERT_TRUE(opened.oversight.entries);
  ASSERT_TRUE(opened.oversight.work && opened.oversight.digests);
  ASSERT_FALSE(opened.oversight.events || opened.oversight.calls) << "no fault waits for them";
  host.processes().hear("server/rping[2]",
                        recording::entry_of<recording::EntryKind::kQueued>(
                            0u, 3u, 0u, static_cast<std::uint64_t>(type), 0, 0u, ""));
  host.processes().forget("server/rping[2]");
}

TEST(Audit, SoIsOneThatAProcessGets) {
  EXPECT_NONFATAL_FAILURE(pretend_of_a_process(RDMA_CM_EVENT_TIMEWAIT_EXIT),
                          "server/rping[2]#3: TIMEWAIT_EXIT although it is idle (seed 7)");
}

void bind_in_a_process(bool ends) {
  World world(7);
  Host& host = world.add_host("server", {"192.0.2.2"});
  for (int i = 0; i < 2; ++i) {  // the second time a program that it has executed
    fault::Question opened{.kind = fault::Question::Kind::kOpened};
    (void)host.processes().advise("server/rping[2]", opened);
    host.processes().hear("server/rping[2]", recording::entry_of<recording::EntryKind::kCalled>(
                                                 0u, 1u, "listen", 0u, 0u));
  }
  if (ends) host.processes().forget("server/rping[2]");
}

TEST(Audit, WhatAProcessLeavesBehindIsNone) {
  bind_in_a_process(true);
  EXPECT_NONFATAL_FAILURE(bind_in_a_process(false), "server/rping[2]#1: never destroyed (seed 7)");
}

TEST(Audit, WhereNobodyLooksProcessesNeedNotSay) {
  const Unaudited nobody_looks;
  World world(7, kUnrecorded);
  fault::Question opened{.kind = fault::Question::Kind::kOpened};

  (void)world.add_host("server", {"192.0.2.2"}).processes().advise("server/rping[2]", opened);

  EXPECT_FALSE(opened.oversight.entries || opened.oversight.work);
}

TEST(Audit, ChangesNoTrace) {
  const LifeResult watched = run_life(3);
  const Unaudited nobody_looks;

  EXPECT_EQ(run_life(3).hash, watched.hash);
}

}  // namespace
}  // namespace anyrdma::sim::testing
