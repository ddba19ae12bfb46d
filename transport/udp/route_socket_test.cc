// What can be asked of every machine's kernel.
#include "transport/udp/route_socket.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace anyrdma::transport::udp {
namespace {

using soft::Address;

TEST(RouteSocket, LoopbackAddressesAreLocal) {
  RouteSocket routes = RouteSocket::open().value();

  const RouteSocket::Route route = routes.route(nullptr, Address::ipv4(0x7f000009, 7471)).value();

  EXPECT_TRUE(route.local);
  EXPECT_GT(route.interface, 0);
  EXPECT_TRUE(route.source.is_loopback());
  EXPECT_EQ(route.next_hop, Address::ipv4(0x7f000009)) << "without the port";
}

TEST(RouteSocket, ASourceThatIsNotOursHasNoRoute) {
  RouteSocket routes = RouteSocket::open().value();
  const Address documentation = Address::ipv4(0xc6336401);  // RFC 5737
  EXPECT_FALSE(routes.route(&documentation, Address::ipv4(0xc6336402)).has_value());
}

TEST(RouteSocket, ReservedAddressesHaveNoRoute) {
  RouteSocket routes = RouteSocket::open().value();
  EXPECT_FALSE(routes.route(nullptr, Address::ipv4(0xf0000001)).has_value());
}

TEST(RouteSocket, NobodyKnowsTheNeighbourOnNoInterface) {
  RouteSocket routes = RouteSocket::open().value();
  EXPECT_EQ(routes.neighbour(1, Address::ipv4(0xc6336401)), RouteSocket::Neighbour::kUnknown);
  EXPECT_EQ(routes.neighbour(0, Address::ipv4(0x7f000001)), RouteSocket::Neighbour::kUnknown);
}

TEST(RouteSocket, AnswersNothingOnceClosed) {
  RouteSocket routes = RouteSocket::open().value();
  routes.watch_neighbours(true);
  routes.close();
  EXPECT_EQ(routes.route(nullptr, Address::ipv4(0x7f000001)).error(),
            verbs::errno_code(ENETUNREACH));
  EXPECT_EQ(routes.neighbour(1, Address::ipv4(0x7f000001)), RouteSocket::Neighbour::kUnknown);
  EXPECT_FALSE(routes.discard_news());
}

}  // namespace
}  // namespace anyrdma::transport::udp
