// Bonds that fail over and back, and neighbours that move, return and are forgotten. What Linux 6.1
// does then was asked of a bond with fail_over_mac=active and of `ip neighbour`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "sim/testing/program.h"
#include "transport/fault/plan/scalars.h"

namespace anyrdma::sim::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Told = std::vector<std::pair<std::uint64_t, rdma_cm_event_type>>;

class Bonds : public ::testing::Test {
 protected:
  static HostOptions host(const char* address, const BondOptions& bond = {}) {
    return {.interfaces = {{.addresses = {address}, .bond = bond}}};
  }
  /// What the host's ids hear of a fault that happens now.
  Told told(Program& program, std::string_view fault) {
    program.take_all();
    program.seen.clear();
    const std::string plan = "at " + fault::word_of(world.now().time_since_epoch()) + ": ";
    EXPECT_TRUE(world.faults().inject(FaultPlan::parse(plan + std::string(fault) + "\n").value()));
    world.run_for(1s);
    program.take_all();
    Told all;
    for (const Seen& seen : program.seen) all.emplace_back(seen.id, seen.type);
    return all;
  }
  std::uint32_t observed() { return world.faults().status().back().observed; }
  std::unique_ptr<cm::Id> bind(Program& program, const Address& local) {
    auto id = program.make_id();
    const sockaddr_storage address = local.to_sockaddr();
    id->bind(reinterpret_cast<const sockaddr*>(&address)).value();
    return id;
  }
  static std::pair<std::uint64_t, rdma_cm_event_type> change(const cm::Id& id) {
    return {id.number(), RDMA_CM_EVENT_ADDR_CHANGE};
  }
  static std::pair<std::uint64_t, rdma_cm_event_type> unreachable(const cm::Id& id) {
    return {id.number(), RDMA_CM_EVENT_UNREACHABLE};
  }

  World world{1};
  Host& client_host = world.add_host("client", host("10.0.0.1"));
  Host& server_host = world.add_host("server", host("10.0.0.2", {.links = 3}));
  Host& plain_host = world.add_host("plain", host("10.0.0.3", {.links = 1}));
  Host& still_host = world.add_host("still", host("10.0.0.4", {.keeps_address = true}));
  Program client{client_host};
  Program server{server_host};
};

TEST_F(Bonds, FailOverAndFailBackAreToldToWhoeverKnowsAnotherAddress) {
  const auto early = bind(server, server_host.address());

  EXPECT_THAT(told(server, "fail-over server eth0"), ElementsAre(change(*early)));
  const auto late = bind(server, server_host.address());
  EXPECT_THAT(told(server, "fail-back server eth0"), ElementsAre(change(*late)));
  EXPECT_THAT(told(server, "fail-over server eth0"), ElementsAre(change(*early)));
  // To the third, which neither knows.
  EXPECT_THAT(told(server, "fail-over server eth0"), ElementsAre(change(*early), change(*late)));
  EXPECT_THAT(told(server, "fail-over server eth0"), ElementsAre(change(*late)));
}

TEST_F(Bonds, AListenerOnAllInterfacesHearsNothing) {
  const auto wildcard = server.listen(Address::ipv4(0, kPort));

  EXPECT_THAT(told(server, "fail-over server eth0"), IsEmpty());
}

TEST_F(Bonds, AnAddressResolvedAnewIsKnownAnew) {
  const auto id = bind(client, client_host.address());
  EXPECT_THAT(told(client, "fail-over client eth0"), ElementsAre(change(*id)));
  const sockaddr_storage to = server_host.address(kPort).to_sockaddr();
  id->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&to), kPatience).value();
  client.expect(RDMA_CM_EVENT_ADDR_RESOLVED);

  EXPECT_THAT(told(client, "fail-back client eth0"), ElementsAre(change(*id)));
}

TEST_F(Bonds, NobodyFailsBackFromTheFirstLinkNorWithoutABond) {
  EXPECT_THAT(told(server, "fail-back server eth0"), IsEmpty());
  EXPECT_EQ(observed(), 0u);
  Program plain{plain_host};
  const auto id = bind(plain, plain_host.address());
  EXPECT_THAT(told(plain, "fail-over plain eth0"), IsEmpty());
  EXPECT_EQ(observed(), 0u);
}

TEST_F(Bonds, ABondThatKeepsItsAddressIsNoticedByNobody) {
  Program still{still_host};
  const auto own = bind(still, still_host.address());
  const auto peer = client.resolve(still_host.address(kPort));

  EXPECT_THAT(told(still, "fail-over still eth0"), IsEmpty());
  EXPECT_THAT(told(client, "fail-back still eth0"), IsEmpty());
  EXPECT_EQ(observed(), 1u);
}

TEST_F(Bonds, ANeighbourThatMovesIsToldToTheIdsRoutedToItUntilItReturns) {
  const auto early = client.resolve(server_host.address(kPort));

  EXPECT_THAT(told(client, "fail-over server eth0"), ElementsAre(unreachable(*early)));
  const auto late = client.resolve(server_host.address(kPort));
  EXPECT_THAT(told(client, "fail-back server eth0"), ElementsAre(unreachable(*late)));
}

TEST_F(Bonds, EveryNewsOfANeighbourThatHasMovedIsToldAgain) {
  const auto id = client.resolve(server_host.address(kPort));
  EXPECT_THAT(told(client, "confirm-neighbour client 10.0.0.2"), IsEmpty());
  EXPECT_THAT(told(client, "fail-over server eth0"), ElementsAre(unreachable(*id)));

  EXPECT_THAT(told(client, "confirm-neighbour client 10.0.0.2"), ElementsAre(unreachable(*id)));
  EXPECT_THAT(told(client, "forget-neighbour client 10.0.0.2"), ElementsAre(unreachable(*id)));
  EXPECT_THAT(told(client, "forget-neighbour client 10.0.0.2"), IsEmpty());
  EXPECT_EQ(observed(), 0u);
}

TEST_F(Bonds, AForgottenNeighbourIsLookedForAgainAndFoundWhereItIs) {
  const auto early = client.resolve(server_host.address(kPort));
  EXPECT_THAT(told(client, "forget-neighbour client 10.0.0.2"), IsEmpty());
  EXPECT_THAT(told(client, "fail-over server eth0"), IsEmpty());  // who does not know it, learns
  const Instant before = world.now();
  auto late = client.make_id();
  const sockaddr_storage to = server_host.address(kPort).to_sockaddr();
  late->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&to), kPatience).value();

  client.expect(RDMA_CM_EVENT_UNREACHABLE);
  EXPECT_EQ(client.seen.back().id, early->number());
  EXPECT_EQ(world.now() - before, 4us);
  client.expect(RDMA_CM_EVENT_ADDR_RESOLVED);
}

TEST_F(Bonds, NewsThatAHostDoesNotGetComesWhenItAsks) {
  const auto id = client.resolve(server_host.address(kPort));
  world.set_path(server_host, client_host, {.down = true});
  EXPECT_THAT(told(client, "fail-over server eth0"), IsEmpty());
  world.set_path(server_host, client_host, {});

  EXPECT_THAT(told(client, "confirm-neighbour client 10.0.0.2"), ElementsAre(unreachable(*id)));
}

TEST_F(Bonds, ANeighbourThatDoesNotAnswerIsForgottenAndLookedForInVain) {
  const auto id = client.resolve(server_host.address(kPort));
  EXPECT_THAT(told(client, "crash server"), IsEmpty());
  EXPECT_THAT(told(client, "confirm-neighbour client 10.0.0.2"), IsEmpty());
  EXPECT_EQ(observed(), 1u);

  auto late = client.make_id();
  const sockaddr_storage to = server_host.address(kPort).to_sockaddr();
  late->resolve_addr(nullptr, reinterpret_cast<const sockaddr*>(&to), kPatience).value();

  client.expect(RDMA_CM_EVENT_ADDR_ERROR);
}

}  // namespace
}  // namespace anyrdma::sim::testing
