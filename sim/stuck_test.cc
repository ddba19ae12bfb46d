// When nothing can happen any more: who waits for what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "sim/testing/program.h"

namespace anyrdma::sim::testing {
namespace {

using ::testing::HasSubstr;

class Stuck : public ::testing::Test {
 protected:
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
