// Waits of minutes that pass at once.
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>

#include "sim/testing/program.h"

namespace anyrdma::sim::testing {
namespace {

/// A client's answer when its REQs are lost for ever.
Seen unreachable(const ibcm::Profile& profile) {
  WorldOptions options;
  options.profile = profile;
  World world(1, options);
  Host& client_host = world.add_host("client", {"192.0.2.1"});
  Host& server_host = world.add_host("server", {"192.0.2.2"});
  EXPECT_TRUE(world.faults().inject(FaultPlan::parse("on client->server REQ all: lose").value()));
  Seen seen;
  {
    Program client(client_host);
    Program server(server_host);
    auto listener = server.listen(server_host.address(kPort));
    auto id = client.resolve(server_host.address(kPort));
    const rdma_conn_param param = parameters("");
    Pipe pipe(*id);
    const Instant start = world.now();
    id->connect(&param).value();

    seen = client.expect(RDMA_CM_EVENT_UNREACHABLE);

    seen.when = Instant(seen.when - start);
  }
  EXPECT_EQ(world.faults().status().front().fired, 16u);
  return seen;
}

double seconds(Instant when) {
  return std::chrono::duration<double>(when.time_since_epoch()).count();
}

TEST(Timeout, RequestsLostForEverMakeThePeerUnreachableAfter102SecondsOnLinux61) {
  const Seen seen = unreachable(ibcm::kLinux61);

  EXPECT_EQ(seen.status, -ETIMEDOUT);
  EXPECT_NEAR(seconds(seen.when), 102.2, 0.05);
}

TEST(Timeout, RequestsLostForEverMakeThePeerUnreachableAfter74SecondsOnLinux617) {
  const Seen seen = unreachable(ibcm::kLinux617);

  EXPECT_EQ(seen.status, -ETIMEDOUT);
  EXPECT_NEAR(seconds(seen.when), 73.728, 0.001);
}

TEST(Timeout, AHostWithoutRdmaIsUnreachableToo) {
  World world(1);
  Host& client_host = world.add_host("client", {"192.0.2.1"});
  Host& server_host = world.add_host(
      "server", HostOptions{.interfaces = {{.addresses = {"192.0.2.2"}, .rdma = false}}});
  Program client(client_host);
  auto id = client.resolve(server_host.address(kPort));
  const rdma_conn_param param = parameters("");
  Pipe pipe(*id);
  id->connect(&param).value();

  const Seen seen = client.expect(RDMA_CM_EVENT_UNREACHABLE);

  EXPECT_EQ(seen.status, -ETIMEDOUT);
  EXPECT_NEAR(seconds(seen.when), 102.2, 0.05);
}

TEST(Timeout, ALostRtuDelaysThePassiveSideByOneRetransmission) {
  World world(1);
  Host& client_host = world.add_host("client", {"192.0.2.1"});
  Host& server_host = world.add_host("server", {"192.0.2.2"});
  EXPECT_TRUE(world.faults().inject(FaultPlan::parse("on client->server RTU 1: lose").value()));
  Program client(client_host);
  Program server(server_host);
  auto listener = server.listen(server_host.address(kPort));
  auto id = client.resolve(server_host.address(kPort));
  Pipe pipe(*id);
  const rdma_conn_param param = parameters("");
  id->connect(&param).value();
  auto request = server.expect_request();
  Pipe server_pipe(*request);
  request->accept(&param).value();
  const Seen active = client.expect(RDMA_CM_EVENT_ESTABLISHED);

  const Seen passive = server.expect(RDMA_CM_EVENT_ESTABLISHED);

  EXPECT_LT(seconds(active.when), 0.001);
  EXPECT_NEAR(seconds(passive.when), 4.1, 0.2);
}

}  // namespace
}  // namespace anyrdma::sim::testing
