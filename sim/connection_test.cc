// The life of a connection between two simulated hosts: every event of both sides, in order, with
// every field as the kernel's cm.c and cma.c set it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "sim/testing/clean_run.h"

namespace anyrdma::sim::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::size_t kRequestBytes = 56;
constexpr std::size_t kResponseBytes = 196;

class Connection : public ::testing::Test {
 protected:
  Connection() {
    run.start();
    EXPECT_TRUE(world.run()) << world.stuck_report();
  }
  [[nodiscard]] static const Seen& only(const Program& program, rdma_cm_event_type type) {
    for (const Seen& seen : program.seen) {
      if (seen.type == type) return seen;
    }
    ADD_FAILURE() << "no event of type " << type;
    return program.seen.front();
  }
  static void expect_empty(const Seen& seen) {
    EXPECT_EQ(seen.status, 0);
    EXPECT_TRUE(seen.data.empty());
    EXPECT_EQ(seen.conn.private_data_len, 0);
    EXPECT_EQ(seen.conn.responder_resources, 0);
    EXPECT_EQ(seen.conn.initiator_depth, 0);
    EXPECT_EQ(seen.conn.retry_count, 0);
    EXPECT_EQ(seen.conn.rnr_retry_count, 0);
    EXPECT_EQ(seen.conn.qp_num, 0u);
  }

  World world{1};
  CleanRun run{world};
};

TEST_F(Connection, GivesTheActiveSideFiveEvents) {
  EXPECT_THAT(types_of(run.client().seen),
              ElementsAre(RDMA_CM_EVENT_ADDR_RESOLVED, RDMA_CM_EVENT_ROUTE_RESOLVED,
                          RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_DISCONNECTED,
                          RDMA_CM_EVENT_TIMEWAIT_EXIT));
}

TEST_F(Connection, GivesThePassiveSideFourEvents) {
  EXPECT_THAT(types_of(run.server().seen),
              ElementsAre(RDMA_CM_EVENT_CONNECT_REQUEST, RDMA_CM_EVENT_ESTABLISHED,
                          RDMA_CM_EVENT_DISCONNECTED, RDMA_CM_EVENT_TIMEWAIT_EXIT));
}

TEST_F(Connection, RequestCarriesSwappedDepthsAnd56BytesOfPrivateData) {
  const Seen& request = only(run.server(), RDMA_CM_EVENT_CONNECT_REQUEST);

  EXPECT_NE(request.listener, 0u);
  EXPECT_NE(request.id, request.listener);
  EXPECT_EQ(request.status, 0);
  EXPECT_EQ(request.data, padded("hello", kRequestBytes));
  EXPECT_EQ(request.conn.responder_resources, 5);
  EXPECT_EQ(request.conn.initiator_depth, 3);
  EXPECT_EQ(request.conn.flow_control, 0);
  EXPECT_EQ(request.conn.retry_count, 7);
  EXPECT_EQ(request.conn.rnr_retry_count, 7);
  EXPECT_EQ(request.conn.srq, 0);
  EXPECT_EQ(request.conn.qp_num, run.client_qpn());
}

TEST_F(Connection, ActiveEstablishedCarriesSwappedDepthsAnd196BytesOfPrivateData) {
  const Seen& established = only(run.client(), RDMA_CM_EVENT_ESTABLISHED);

  EXPECT_EQ(established.status, 0);
  EXPECT_EQ(established.data, padded("welcome", kResponseBytes));
  EXPECT_EQ(established.conn.responder_resources, 2);
  EXPECT_EQ(established.conn.initiator_depth, 1);
  EXPECT_EQ(established.conn.flow_control, 0);
  EXPECT_EQ(established.conn.retry_count, 0);
  EXPECT_EQ(established.conn.rnr_retry_count, 7);
  EXPECT_EQ(established.conn.qp_num, run.server_qpn());
}

TEST_F(Connection, AllOtherEventsAreEmpty) {
  expect_empty(only(run.client(), RDMA_CM_EVENT_ADDR_RESOLVED));
  expect_empty(only(run.client(), RDMA_CM_EVENT_ROUTE_RESOLVED));
  expect_empty(only(run.client(), RDMA_CM_EVENT_DISCONNECTED));
  expect_empty(only(run.client(), RDMA_CM_EVENT_TIMEWAIT_EXIT));
  expect_empty(only(run.server(), RDMA_CM_EVENT_ESTABLISHED));
  expect_empty(only(run.server(), RDMA_CM_EVENT_DISCONNECTED));
  expect_empty(only(run.server(), RDMA_CM_EVENT_TIMEWAIT_EXIT));
}

TEST_F(Connection, MovesDataByAllFourWays) {
  EXPECT_EQ(run.received_by_server(), "ping");
  EXPECT_EQ(run.received_by_client(), "pong");
  EXPECT_EQ(run.written(), "written");
  EXPECT_EQ(run.read(), "to be read");
}

TEST_F(Connection, LeavesNoPortAndNoDropBehind) {
  run.end();

  EXPECT_EQ(run.client().host().ports().size(), 0u);
  EXPECT_EQ(run.server().host().ports().size(), 0u);
  EXPECT_THAT(world.trace().text(), ::testing::Not(HasSubstr("drop")));
  EXPECT_EQ(world.run(), verbs::Result<void>{});
}

TEST_F(Connection, ShowsItsMessagesInTheTrace) {
  const std::string text = world.trace().text();

  EXPECT_THAT(text, HasSubstr("client -> server REQ id=0x"));
  EXPECT_THAT(text, HasSubstr("service=TCP:7471"));
  EXPECT_THAT(text, HasSubstr("resources=3 depth=5 retry=7 rnr=7 from=192.0.2.1:"));
  EXPECT_THAT(text, HasSubstr("data=\"hello\""));
  EXPECT_THAT(text, HasSubstr("server -> client REP id=0x"));
  EXPECT_THAT(text, HasSubstr("RC RDMA READ Response Only"));
  EXPECT_THAT(text, HasSubstr("client fetched id=1 ESTABLISHED status=0 resources=2 depth=1"));
}

}  // namespace
}  // namespace anyrdma::sim::testing
