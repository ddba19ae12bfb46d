// When deadlock: no event is pending: who waits for what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>
#include <optional>
#include <vector>

#include "sim/testing/audit.h"
#include "sim/testing/program.h"

namespace anyrdma::sim::testing {
namespace {

using ::testing::HasSubstr;

/// Its programs break the rules on purpose.
class Stuck : public ::testing::Test {
 protected:
  const Unaudited nobody_looks_;
  World world{1};
  Host& client_host = world.add_host("client", {"192.0.2.1"});
  Host& server_host = world.add_host("server", {"192.0.2.2"});
};

TEST_F(Stuck, TheReportNamesEveryFiberWithWhatItWaitsForAndSinceWhen) {
  Program client(client_host);
  Program server(server_host);
  auto listener = server.listen(server_host.address(kPort));
  int error = 0;
  server_host.spawn("acceptor", [&] {
    EXPECT_TRUE(server_host.sleep(std::chrono::seconds(3)));
    error = server.channel().get().error().value();
  });
  client_host.spawn("idler", [&] { (void)client.channel().get().has_value(); });

  const Result<void> result = world.run();

  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().value(), EDEADLK);
  EXPECT_EQ(world.stuck_report(),
            "server/acceptor waits for an event on an event channel since 3.000000000 s\n"
            "client/idler waits for an event on an event channel since 0.000000000 s\n");
  world.scheduler().fibers().close();
  EXPECT_EQ(error, EDEADLK);
}

TEST_F(Stuck, AServerMayWaitForEver) {
  Program server(server_host);
  server_host.spawn(
      "acceptor", [&] { (void)server.channel().get().has_value(); }, Ending::kMayServe);

  EXPECT_TRUE(world.run());
  EXPECT_THAT(world.stuck_report(), HasSubstr("server/acceptor waits for an event"));
  world.scheduler().fibers().close();
}

TEST_F(Stuck, BlockingOutsideOfFibersIsADeadlockError) {
  Program client(client_host);

  EXPECT_EQ(client.channel().get().error().value(), EDEADLK);
}

TEST_F(Stuck, DestroyingAnIdWhoseEventNobodyAcknowledgesIsADeadlockError) {
  Program client(client_host);
  auto id = client.make_id();
  const sockaddr_storage peer = server_host.address(kPort).to_sockaddr();
  id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&peer), kPatience).value();
  const std::optional<cm::Event> event = client.next();

  EXPECT_EQ(cm::Id::destroy(std::move(id)).error().value(), EDEADLK);
  EXPECT_EQ(world.stuck_report(),
            "code outside of all fibers waited for the acknowledgement of the events "
            "of an id that it destroys at 0.000004000 s\n"
            "  id 1: ADDR_RESOLVED status 0, fetched at 0.000004000 s outside of all fibers, "
            "not acknowledged\n");
}

TEST_F(Stuck, TheReportOfABlockedDestroyNamesTheEventsThatAreOwed) {
  Program client(client_host);
  client_host.spawn("main", [&] {
    auto id = client.make_id();
    const sockaddr_storage nobody = Address::ipv4(0xc00002fe, kPort).to_sockaddr();
    id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&nobody), kPatience).value();
    const cm::Event event = client.channel().get().value();
    EXPECT_EQ(cm::Id::destroy(std::move(id)).error().value(), EDEADLK);
  });

  EXPECT_EQ(world.run().error().value(), EDEADLK);

  EXPECT_EQ(world.stuck_report(),
            "client/main waits for the acknowledgement of the events of an id that it destroys "
            "since 2.000000000 s\n"
            "  id 1: ADDR_ERROR status -110, fetched at 2.000000000 s by client/main, "
            "not acknowledged\n");
  world.scheduler().fibers().close();
}

TEST_F(Stuck, ABlockedMigrationNamesTheFetcherThatHasEnded) {
  Program client(client_host);
  Program other(client_host);
  auto id = client.resolve(server_host.address(kPort));
  std::optional<cm::Event> kept;
  client_host.spawn("fetcher", [&] {
    const rdma_conn_param param{};
    id->connect(&param).value();  // nobody listens there
    kept = client.channel().get().value();
  });
  client_host.spawn("mover", [&] {
    EXPECT_TRUE(client_host.sleep(kPatience));
    EXPECT_EQ(id->migrate(other.channel()).error().value(), EDEADLK);
  });

  EXPECT_EQ(world.run().error().value(), EDEADLK);

  EXPECT_EQ(world.stuck_report(),
            "client/mover waits for the acknowledgement of the events of an id that it migrates "
            "since 2.000004000 s\n"
            "  id 1: REJECTED status 8, fetched at 0.000008000 s by a fiber that has ended, "
            "not acknowledged\n");
  world.scheduler().fibers().close();
  kept.reset();
}

TEST_F(Stuck, ABlockedLeaveNamesTheEventsOfThatGroupOnly) {
  Program client(client_host);
  auto id = cm::Id::create(client.channel(), RDMA_PS_UDP, nullptr).value();
  const sockaddr_storage local = client_host.address(kPort).to_sockaddr();
  id->bind(reinterpret_cast<const sockaddr*>(&local)).value();
  const sockaddr_storage left = Address::ipv4(0xef010101).to_sockaddr();
  const sockaddr_storage kept = Address::ipv4(0xef010102).to_sockaddr();
  std::vector<cm::Event> events;
  for (const sockaddr_storage* group : {&left, &kept}) {
    id->join_multicast(reinterpret_cast<const sockaddr*>(group), nullptr,
                       transport::JoinState::kFullMember)
        .value();
    events.push_back(client.channel().get().value());
  }

  EXPECT_EQ(id->leave_multicast(reinterpret_cast<const sockaddr*>(&left)).error().value(), EDEADLK);

  EXPECT_EQ(world.stuck_report(),
            "code outside of all fibers waited for the acknowledgement of a multicast "
            "group's events, to leave it at 0.000000000 s\n"
            "  id 1: MULTICAST_JOIN status 0, fetched at 0.000000000 s outside of all fibers, "
            "not acknowledged\n");
  events.clear();
}

TEST_F(Stuck, AnAcknowledgementInTimeLeavesNothingToReport) {
  Program client(client_host);
  auto id = client.resolve(server_host.address(kPort));
  std::optional<cm::Event> kept;
  const rdma_conn_param param{};
  id->connect(&param).value();
  kept = client.channel().get().value();
  client_host.spawn("destroyer", [&] { EXPECT_TRUE(cm::Id::destroy(std::move(id))); });
  client_host.spawn("acknowledger", [&] {
    EXPECT_TRUE(client_host.sleep(kPatience));
    kept.reset();
  });

  EXPECT_TRUE(world.run());

  EXPECT_EQ(world.stuck_report(), "");
}

TEST_F(Stuck, ABlockedDestroyOfACompletionQueueCountsItsEvents) {
  Program client(client_host);
  auto id = client.resolve(server_host.address(kPort));
  ibv_context* const verbs = id->raw()->verbs;
  verbs::Provider& provider = verbs::provider_of(verbs);
  ibv_comp_channel* const channel = provider.create_comp_channel(verbs).value();
  ibv_cq* const cq = provider.create_cq(verbs, 16, nullptr, channel, 0).value();
  ibv_qp_init_attr attr{};
  attr.qp_type = IBV_QPT_RC;
  attr.send_cq = attr.recv_cq = cq;
  attr.cap = {.max_send_wr = 1,
              .max_recv_wr = 1,
              .max_send_sge = 1,
              .max_recv_sge = 1,
              .max_inline_data = 0};
  ASSERT_TRUE(id->create_qp(nullptr, &attr));
  ASSERT_EQ(ibv_req_notify_cq(cq, 0), 0);
  ibv_recv_wr receive{};
  ibv_recv_wr* bad = nullptr;
  ASSERT_EQ(ibv_post_recv(id->qp(), &receive, &bad), 0);
  ibv_qp_attr error{};
  error.qp_state = IBV_QPS_ERR;
  ASSERT_TRUE(provider.modify_qp(id->qp(), &error, IBV_QP_STATE));
  ASSERT_EQ(provider.get_cq_event(channel).value(), cq);
  ASSERT_TRUE(id->destroy_qp());

  EXPECT_EQ(provider.destroy_cq(cq).error().value(), EDEADLK);

  EXPECT_EQ(world.stuck_report(),
            "code outside of all fibers waited for the acknowledgement of verbs "
            "events at 0.000004000 s\n"
            "  completion events: 1 taken, 0 acknowledged (completion queue 1, the last taken at "
            "0.000004000 s outside of all fibers)\n");
  provider.ack_cq_events(cq, 1);
  EXPECT_TRUE(provider.destroy_cq(cq));
  EXPECT_TRUE(provider.destroy_comp_channel(channel));
}

TEST_F(Stuck, ABlockedDestroyOfAQueuePairNamesItsAsynchronousEvents) {
  Program client(client_host);
  auto id = client.resolve(server_host.address(kPort));
  ibv_qp_init_attr attr{};
  attr.qp_type = IBV_QPT_RC;
  attr.cap = {1, 1, 1, 1, 0};
  ASSERT_TRUE(id->create_qp(nullptr, &attr));
  const std::string number = std::to_string(id->qp()->qp_num);
  verbs::Provider& provider = verbs::provider_of(id->raw()->verbs);
  ibv_async_event event{};
  client_host.spawn("watcher", [&] { event = provider.get_async_event(id->raw()->verbs).value(); });
  client_host.spawn("main", [&] {
    EXPECT_TRUE(client_host.sleep(kPatience));
    EXPECT_TRUE(client_host.devices().fail_qp({0, id->qp()->qp_num}, IBV_EVENT_QP_FATAL));
    EXPECT_TRUE(client_host.sleep(kPatience));
    EXPECT_EQ(id->destroy_qp().error().value(), EDEADLK);
  });

  EXPECT_EQ(world.run().error().value(), EDEADLK);

  EXPECT_EQ(world.stuck_report(),
            "client/main waits for the acknowledgement of verbs events since 4.000004000 s\n"
            "  asynchronous events: 1 taken, 0 acknowledged (queue pair " +
                number + ", the last taken at 2.000004000 s by a fiber that has ended)\n");
  world.scheduler().fibers().close();
  provider.ack_async_event(event);
  EXPECT_TRUE(id->destroy_qp());
}

TEST_F(Stuck, AProgramThatPollsForEverIsReportedAsAnyOther) {
  bool wanted = true;
  client_host.spawn("poller", [&] {
    while (wanted) client_host.runtime().progress();
  });

  EXPECT_EQ(world.run().error().value(), EDEADLK);

  EXPECT_EQ(world.stuck_report(),
            "client/poller waits for something to happen (it polls) since 0.000000000 s\n");
  wanted = false;
  world.scheduler().fibers().close();
}

TEST(StuckEnd, AProgramThatPollsForEverIsUnwoundWhenItsWorldEnds) {
  const auto token = std::make_shared<int>();
  {
    const Unaudited it_hangs;
    World world(1);
    Host& host = world.add_host("host", {"10.0.0.1"});
    host.spawn("poller", [&host, token] {
      const std::shared_ptr<int> held = token;
      for (;;) host.runtime().progress();
    });
    EXPECT_EQ(world.run().error().value(), EDEADLK);
    EXPECT_EQ(token.use_count(), 3);
  }

  EXPECT_EQ(token.use_count(), 1);
}

TEST_F(Stuck, RunUntilStopsAtItsDeadline) {
  Program client(client_host);
  auto id = client.make_id();
  const sockaddr_storage nobody = Address::ipv4(0xc00002fe, kPort).to_sockaddr();
  id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&nobody), kPatience).value();
  const auto never = [] { return false; };

  EXPECT_FALSE(world.run_until(never, Instant(kPatience / 2)));
  EXPECT_LE(world.now(), Instant(kPatience / 2));
  EXPECT_FALSE(world.run_until(never));
  EXPECT_EQ(world.now(), Instant(kPatience));
  client.take_all();
}

}  // namespace
}  // namespace anyrdma::sim::testing
