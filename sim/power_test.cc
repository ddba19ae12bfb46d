// Hosts that lose their power, stop for a while, and come back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

#include "sim/testing/faulted_pair.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::uint8_t kStaleConnection = 10;

class PowerTest : public FaultedPair {
 protected:
  /// The queue pair's number is that of every first one after a start.
  std::unique_ptr<cm::Id> ask(Program& program) { return FaultedPair::ask(program, 0x11); }
  Connection connect(Program& program) { return finish(program, ask(program)); }
};

// --- crash and restart --------------------------------------------------------------------------

TEST_F(PowerTest, ACrashSaysNothingAndThePeerFindsOutByItsOwnTimers) {
  const Connection made = connect(client);
  inject("at 1s: crash client");
  world.run_for(2s);
  server.take_all();
  EXPECT_EQ(server.seen.back().type, RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_THAT(world.trace().text(), Not(HasSubstr("DREQ")));

  made.passive->disconnect().value();
  const Seen end = server.expect(RDMA_CM_EVENT_DISCONNECTED);

  EXPECT_EQ(end.status, -ETIMEDOUT);
  EXPECT_GT(now(), 60.0);
  EXPECT_THAT(world.trace().text(), HasSubstr("client drop (server): host stopped: DREQ"));
}

// users.md 28: the old connection is found by the queue pair's number, which counts from the start.
TEST_F(PowerTest, AReturnedClientIsStaleUntilTheServerHasLetGoOfTheOldConnection) {
  const Connection before = connect(client);
  inject("at 1s: crash client\nat 2s: restart client\n");
  world.run_for(3s);
  Program returned(client_host);

  const auto refused = ask(returned);
  const Seen reply = returned.expect(RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(reply.status, kStaleConnection);
  server.expect(RDMA_CM_EVENT_DISCONNECTED);  // the returned client knows nothing of it: DREP
  world.run_for(100ms);
  const Connection after = connect(returned);

  EXPECT_THAT(world.trace().text(), HasSubstr("server -> client DREQ"));
  EXPECT_NEAR(now(), 3.1, 0.1);
}

TEST_F(PowerTest, AReturnedClientThatTakesAnotherNumberIsNotStale) {
  Program first(client_host);
  const Connection before = connect(first);
  inject("at 1s: restart client");
  world.run_for(2s);
  Program returned(client_host);

  auto id = returned.resolve(server_host.address(kPort));
  rdma_conn_param param = parameters("");
  param.qp_num = 0x99;
  id->connect(&param).value();
  const auto accepted = accept();

  returned.expect(RDMA_CM_EVENT_CONNECT_RESPONSE);
}

TEST_F(PowerTest, AKeyOfTheTimeBeforeARestartIsNoneAfterwards) {
  const auto key_on = [this](Program& program) {
    const auto id = program.resolve(server_host.address(kPort));
    return Pipe(*id).rkey();
  };
  const std::uint32_t before = key_on(client);
  inject("at 1s: restart client");
  world.run_for(2s);
  Program returned(client_host);

  EXPECT_NE(key_on(returned), before);
}

TEST_F(PowerTest, AServerThatCameBackIsNotListeningUntilItsProgramDoes) {
  inject("at 1s: restart server");
  world.run_for(2s);

  const auto refused = ask(client);

  EXPECT_EQ(client.expect(RDMA_CM_EVENT_REJECTED).status, 8);  // invalid service id
  Program returned(server_host);
  const auto again = returned.listen(server_host.address(kPort));
  const auto id = ask(client);
  EXPECT_NE(returned.expect_request(), nullptr);
}

TEST_F(PowerTest, ProgramsThatStartWithTheHostStartAgainWithARestart) {
  std::vector<std::string> starts;
  client_host.on_start("init", [&] {
    starts.push_back(std::to_string(client_host.ports().size()) + " ports");
    Program program(client_host);
    const auto id = program.resolve(server_host.address(kPort));
    (void)program.next();  // for ever
  });
  client_host.spawn("once", [&] { starts.push_back("once"); });
  inject("at 1s: crash client\nat 2s: restart client\nat 3s: crash client");

  ASSERT_TRUE(world.run()) << world.stuck_report();

  EXPECT_THAT(starts, ElementsAre("0 ports", "once", "0 ports"));
  EXPECT_EQ(world.stuck_report(), "");
  world.scheduler().fibers().close();
}

TEST_F(PowerTest, WhoeverWaitsOnAHostThatCrashesNeverRunsAgain) {
  bool slept = false;
  bool polled = false;
  bool began = false;
  client_host.spawn("sleeper", [&] { slept = client_host.sleep(2s); });
  client_host.spawn("poller", [&] {
    while (!polled && client_host.running()) client_host.runtime().progress();
    polled = true;
  });
  inject("at 1s: crash client");
  world.run_for(1s);

  client_host.spawn("late", [&] { began = true; });
  ASSERT_TRUE(world.run()) << world.stuck_report();

  EXPECT_FALSE(slept);
  EXPECT_FALSE(polled);
  EXPECT_FALSE(began);
  world.scheduler().fibers().close();
  EXPECT_FALSE(slept);
  EXPECT_FALSE(began);
}

TEST_F(PowerTest, WhatTheTestHoldsOfACrashedHostIsDeadButHarmless) {
  Connection made = connect(client);
  auto resolving = client.make_id();
  inject("at 1s: restart client");
  world.run_for(2s);
  Program returned(client_host);
  const auto fresh = returned.make_id();
  const sockaddr_storage address = server_host.address(kPort).to_sockaddr();
  const auto* peer = reinterpret_cast<const sockaddr*>(&address);

  EXPECT_EQ(resolving->resolve_addr(nullptr, peer, kPatience).error().value(), ENETUNREACH);
  EXPECT_TRUE(made.active->disconnect());
  fresh->resolve_addr(nullptr, peer, kPatience).value();
  resolving.reset();  // takes nothing of the new one with it
  made.active.reset();

  returned.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_EQ(client.channel().get().error().value(), EDEADLK);
  EXPECT_THAT(world.trace().text(), Not(HasSubstr("DREQ")));
}

TEST_F(PowerTest, NobodyAnswersForAHostThatIsOff) {
  inject("at 1s: crash server");
  world.run_for(2s);
  auto id = client.make_id();
  const sockaddr_storage address = server_host.address(kPort).to_sockaddr();
  id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&address), kPatience).value();

  EXPECT_EQ(client.expect(RDMA_CM_EVENT_ADDR_ERROR).status, -ETIMEDOUT);
}

TEST_F(PowerTest, ADeviceThatWasRemovedBeforeACrashStaysAway) {
  inject("at 1s: remove client anyrdma0\nat 2s: restart client\nat 4s: return client anyrdma0");
  world.run_for(3s);
  EXPECT_TRUE(client_host.devices().names().empty());

  world.run_for(2s);
  Program returned(client_host);

  const Connection made = connect(returned);
}

// --- pause --------------------------------------------------------------------------------------

TEST_F(PowerTest, APausedHostAnswersLateAndNothingIsLost) {
  inject("at 1s: pause server\nat 2500ms: resume server");
  std::unique_ptr<cm::Id> passive;
  server_host.spawn("serve", [&] { passive = accept(); });
  const auto id = client.resolve(server_host.address(kPort));
  world.run_for(1100ms);
  rdma_conn_param param = parameters("");
  param.qp_num = 0x11;
  id->connect(&param).value();

  client.expect(RDMA_CM_EVENT_CONNECT_RESPONSE);

  EXPECT_NEAR(now(), 2.5, 0.01);
  EXPECT_TRUE(world.faults().unfired().empty());
}

TEST_F(PowerTest, AProgramOnAPausedHostGoesOnWhereItWas) {
  std::vector<double> woken;
  client_host.spawn("main", [&] {
    for (int i = 0; i < 3; ++i) {
      client_host.sleep(1s);
      woken.push_back(now());
    }
  });
  inject("at 1500ms: pause client\nat 10s: resume client");

  ASSERT_TRUE(world.run());

  EXPECT_THAT(woken, ElementsAre(1.0, 10.0, 11.0));
}

TEST_F(PowerTest, TimersOfAPausedHostAreDueWhenItGoesOn) {
  Connection made = connect(client);
  inject("at 1s: crash server\nat 1100ms: pause client\nat 200s: resume client");
  world.run_for(1050ms);
  made.active->disconnect().value();
  world.run_for(150s);
  client.take_all();
  EXPECT_EQ(client.seen.back().type, RDMA_CM_EVENT_CONNECT_RESPONSE);

  client.expect(RDMA_CM_EVENT_DISCONNECTED);

  EXPECT_GT(now(), 200.0);
}

TEST_F(PowerTest, OnlySoManyPacketsWaitForAPausedHost) {
  inject("at 1s: pause server\non client->server REQ 1: duplicate\nat 30s: resume server");
  const auto id = client.resolve(server_host.address(kPort));
  world.run_for(1500ms);
  for (int i = 0; i < 300; ++i) {
    auto asking = client.make_id();
    auto each = ask(client);
  }
  world.run_for(100ms);

  EXPECT_THAT(world.trace().text(), HasSubstr("server drop (client): host stopped"));
  world.run_for(60s);
  server.take_all();
}

TEST_F(PowerTest, AHostThatStaysPausedIsReported) {
  client_host.spawn("main", [&] { client_host.sleep(2s); });
  inject("at 1s: pause client");

  const Result<void> result = world.run();

  EXPECT_EQ(result.error().value(), EDEADLK);
  EXPECT_EQ(world.stuck_report(), "client/main cannot run: its host is paused\n");
}

// --- killed programs ----------------------------------------------------------------------------

TEST_F(PowerTest, WhoIsKilledHasTheKernelTakeItsLeave) {
  const Connection made = connect(client);
  inject("at 1s: kill client");

  const Seen end = server.expect(RDMA_CM_EVENT_DISCONNECTED);

  EXPECT_EQ(end.status, 0);
  EXPECT_NEAR(now(), 1.0, 0.1);
  EXPECT_THAT(world.trace().text(), HasSubstr("client -> server DREQ"));
  EXPECT_EQ(world.faults().status().front().observed, 1u);
}

TEST_F(PowerTest, ARequestThatSomebodyWasKilledOverIsRejected) {
  const auto asked = ask(client);
  const auto taken = server.expect_request();
  inject("at 1s: kill server");

  const Seen end = client.expect(RDMA_CM_EVENT_REJECTED);

  EXPECT_EQ(end.status, 28);
  EXPECT_NEAR(now(), 1.0, 0.1);
}

TEST_F(PowerTest, AHostWhoseProgramsWereKilledRunsOthers) {
  // The fixture's world, which outlives this body, ends the victim's fiber.
  const auto slept = std::make_shared<bool>(false);
  client_host.spawn("victim", [this, slept] { *slept = client_host.sleep(2s); });
  inject("at 1s: kill client");
  world.run_for(3s);
  EXPECT_FALSE(*slept);
  EXPECT_TRUE(client_host.running());

  Program next_one(client_host);
  const Connection made = finish(next_one, FaultedPair::ask(next_one, 0x99));

  EXPECT_NE(made.passive, nullptr);
}

TEST_F(PowerTest, NobodyIsKilledOnAHostThatStandsStill) {
  inject("at 1s: pause client\nat 2s: kill client");
  world.run_for(3s);

  EXPECT_EQ(world.faults().status()[1].observed, 0u);
}

TEST_F(PowerTest, WhatIsSoAlreadyIsRefused) {
  EXPECT_EQ(client_host.power().resume().error().value(), EALREADY);
  EXPECT_TRUE(client_host.power().pause());
  EXPECT_EQ(client_host.power().pause().error().value(), EALREADY);
  EXPECT_TRUE(client_host.power().crash());
  EXPECT_EQ(client_host.power().crash().error().value(), EALREADY);
  EXPECT_EQ(client_host.power().resume().error().value(), EALREADY);
  EXPECT_EQ(client_host.power().pause().error().value(), EALREADY);
  client_host.power().restart();
  EXPECT_TRUE(client_host.running());
}

}  // namespace
}  // namespace anyrdma::sim::testing
