// bind, resolve_addr, resolve_route, listen: arguments, addresses, what fetching fills in.
#include <arpa/inet.h>

#include "cm/cm_fixture.h"

namespace anyrdma::cm::testing {
namespace {

class IdAddress : public CmTest {
 protected:
  const transport::Binding unbound_{};
};

TEST_F(IdAddress, AFreshIdIsEmptyButForWhatItWasGiven) {
  int context = 0;
  std::unique_ptr<Id> id = Id::create(*channel_, RDMA_PS_TCP, &context).value();

  EXPECT_EQ(&Id::from(id->raw()), id.get());
  EXPECT_EQ(id->raw()->channel, channel_->raw());
  EXPECT_EQ(id->raw()->context, &context);
  EXPECT_EQ(id->raw()->ps, RDMA_PS_TCP);
  EXPECT_EQ(id->raw()->qp_type, IBV_QPT_RC);
  EXPECT_EQ(id->raw()->verbs, nullptr);
  EXPECT_EQ(id->src_port(), 0);
  EXPECT_EQ(id->local_address().sa_family, AF_UNSPEC);
}

TEST_F(IdAddress, TheQpTypeFollowsThePortSpace) {
  EXPECT_EQ(make_id(RDMA_PS_UDP).id->raw()->qp_type, IBV_QPT_UD);
  EXPECT_EQ(make_id(RDMA_PS_IPOIB).id->raw()->qp_type, IBV_QPT_UD);
  EXPECT_EQ(make_id(RDMA_PS_IB).id->raw()->qp_type, IBV_QPT_RC);
}

TEST_F(IdAddress, TheTransportMayRefuseThePortSpace) {
  EXPECT_CALL(transport_, create_endpoint)
      .WillOnce([](rdma_port_space, ibv_qp_type, transport::EndpointHandler&) {
        return Result<std::unique_ptr<transport::Endpoint>>(errno_code(EINVAL));
      });

  EXPECT_EQ(errno_of(Id::create(*channel_, static_cast<rdma_port_space>(1), nullptr)), EINVAL);
}

TEST_F(IdAddress, NullAndUnknownFamiliesAreRefused) {
  Placed placed = make_id();
  sockaddr_in odd = here_;
  odd.sin_family = AF_UNIX;
  EXPECT_CALL(*placed.endpoint, bind).Times(0);
  EXPECT_CALL(*placed.endpoint, resolve_address).Times(0);

  EXPECT_EQ(errno_of(placed.id->bind(nullptr)), EINVAL);
  EXPECT_EQ(errno_of(placed.id->bind(raw(odd))), EINVAL);
  EXPECT_EQ(errno_of(placed.id->resolve_addr(nullptr, nullptr, kTimeout)), EINVAL);
  EXPECT_EQ(errno_of(placed.id->resolve_addr(nullptr, raw(odd), kTimeout)), EINVAL);
  EXPECT_EQ(errno_of(placed.id->resolve_addr(raw(odd), raw(there_), kTimeout)), EINVAL);
}

TEST_F(IdAddress, AnAddressInUseLeavesTheIdFreshForAnotherTry) {
  Placed placed = make_id();
  EXPECT_CALL(*placed.endpoint, bind)
      .WillOnce(Return(errno_code(EADDRINUSE)))
      .WillOnce(Return(Result<void>()));

  EXPECT_EQ(errno_of(placed.id->bind(raw(here_))), EADDRINUSE);
  EXPECT_EQ(errno_of(placed.id->bind(raw(here_))), 0);
}

TEST_F(IdAddress, BindingToADeviceFillsTheIdAtOnce) {
  Placed placed = make_id();

  EXPECT_TRUE(placed.id->bind(raw(here_)));

  EXPECT_EQ(placed.id->raw()->verbs, provider_.context());
  EXPECT_EQ(placed.id->raw()->port_num, 1);
  EXPECT_NE(placed.id->raw()->pd, nullptr);
  EXPECT_EQ(ntohs(placed.id->src_port()), 1025);
}

TEST_F(IdAddress, BindingToTheWildcardLeavesTheDeviceOpen) {
  Placed placed = make_id();
  placed.endpoint->bound = unbound_;
  placed.endpoint->bound.addr.src_sin = ipv4(0, 4711);

  EXPECT_TRUE(placed.id->listen(5));

  EXPECT_EQ(placed.id->raw()->verbs, nullptr);
  EXPECT_EQ(placed.id->raw()->pd, nullptr);
  EXPECT_EQ(ntohs(placed.id->src_port()), 4711);
}

TEST_F(IdAddress, IPv6PortsAreFoundToo) {
  Placed placed = make_id();
  placed.endpoint->bound.addr.src_sin6 = {};
  placed.endpoint->bound.addr.src_sin6.sin6_family = AF_INET6;
  placed.endpoint->bound.addr.src_sin6.sin6_port = htons(99);

  EXPECT_TRUE(placed.id->bind(raw(here_)));

  EXPECT_EQ(ntohs(placed.id->src_port()), 99);
}

TEST_F(IdAddress, AnUnreachableNetworkIsReportedByTheCall) {
  Placed placed = make_id();
  EXPECT_CALL(*placed.endpoint, resolve_address).WillOnce(Return(errno_code(ENETUNREACH)));

  EXPECT_EQ(errno_of(placed.id->resolve_addr(nullptr, raw(there_), kTimeout)), ENETUNREACH);

  EXPECT_EQ(placed.id->peer_address().sa_family, AF_UNSPEC);
}

TEST_F(IdAddress, TheSourcePortShowsOnlyAfterAddrResolvedWasFetched) {
  Placed placed = make_id();
  EXPECT_TRUE(placed.id->resolve_addr(raw(here_), raw(there_), kTimeout));
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_EQ(placed.id->src_port(), 0);
  EXPECT_EQ(ntohs(placed.id->dst_port()), 7471);

  EXPECT_THAT(next(), EventIs(RDMA_CM_EVENT_ADDR_RESOLVED));

  EXPECT_EQ(ntohs(placed.id->src_port()), 1025);
  EXPECT_EQ(placed.id->raw()->verbs, provider_.context());
  EXPECT_EQ(placed.id->raw()->port_num, 1);
  EXPECT_NE(placed.id->raw()->pd, nullptr);
}

TEST_F(IdAddress, TheRouteCannotBeResolvedBeforeAddrResolvedWasFetched) {
  Placed placed = make_id();
  EXPECT_TRUE(placed.id->resolve_addr(nullptr, raw(there_), kTimeout));
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_CALL(*placed.endpoint, resolve_route).Times(0);

  EXPECT_EQ(errno_of(placed.id->resolve_route(kTimeout)), EINVAL);
}

TEST_F(IdAddress, ARouteErrorMayBeRetried) {
  Placed placed = place(Place::kRouteQuery);
  deliver(placed, RDMA_CM_EVENT_ROUTE_ERROR, -ETIMEDOUT);

  EXPECT_EQ(errno_of(placed.id->resolve_route(kTimeout)), 0);
}

TEST_F(IdAddress, FetchingRouteResolvedFillsTheOnePath) {
  Placed placed = place(Place::kRouteQuery);
  placed.endpoint->route.mtu = IBV_MTU_1024;
  EXPECT_EQ(placed.id->raw()->route.num_paths, 0);

  deliver(placed, RDMA_CM_EVENT_ROUTE_RESOLVED);

  ASSERT_EQ(placed.id->raw()->route.num_paths, 1);
  EXPECT_EQ(placed.id->raw()->route.path_rec->mtu, IBV_MTU_1024);
}

TEST_F(IdAddress, ARouteWithoutAPathTurnsIntoAnError) {
  Placed placed = place(Place::kRouteQuery);
  ON_CALL(*placed.endpoint, path).WillByDefault(Return(nullptr));
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ROUTE_RESOLVED);

  EXPECT_THAT(next(), ::testing::AllOf(EventIs(RDMA_CM_EVENT_ROUTE_ERROR), HasStatus(-1)));
}

TEST_F(IdAddress, ARouteOverIwarpHasNoPath) {
  Placed placed = place(Place::kRouteQuery);
  placed.id->raw()->verbs->device->transport_type = IBV_TRANSPORT_IWARP;
  ON_CALL(*placed.endpoint, path).WillByDefault(Return(nullptr));
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ROUTE_RESOLVED);

  EXPECT_THAT(next(), ::testing::AllOf(EventIs(RDMA_CM_EVENT_ROUTE_RESOLVED), HasStatus(0)));

  EXPECT_EQ(placed.id->raw()->route.num_paths, 0);
  EXPECT_EQ(placed.id->raw()->route.path_rec, nullptr);
}

TEST_F(IdAddress, ADeviceThatCannotBeUsedTurnsAddrResolvedIntoAnError) {
  Placed placed = make_id();
  EXPECT_TRUE(placed.id->resolve_addr(nullptr, raw(there_), kTimeout));
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ADDR_RESOLVED);
  provider_.alloc_pd_error = ENOMEM;

  EXPECT_THAT(next(), ::testing::AllOf(EventIs(RDMA_CM_EVENT_ADDR_ERROR), HasStatus(-1)));

  EXPECT_EQ(placed.id->raw()->verbs, nullptr);
}

TEST_F(IdAddress, ADeviceWithoutAGuidTurnsAddrResolvedIntoAnError) {
  Placed placed = make_id();
  EXPECT_TRUE(placed.id->resolve_addr(nullptr, raw(there_), kTimeout));
  transport_.raise(*placed.endpoint, RDMA_CM_EVENT_ADDR_RESOLVED);
  provider_.attributes.node_guid = 0;

  EXPECT_THAT(next(), ::testing::AllOf(EventIs(RDMA_CM_EVENT_ADDR_ERROR), HasStatus(-1)));

  EXPECT_EQ(placed.id->raw()->verbs, nullptr);
}

void remove(Placed& placed) {
  ON_CALL(*placed.endpoint, admits).WillByDefault(Return(Result<void>(errno_code(ENXIO))));
}

TEST_F(IdAddress, AnswersOfARemovedDeviceAreFetchedAsErrors) {
  Placed address = place(Place::kAddrQuery);
  transport_.raise(*address.endpoint, RDMA_CM_EVENT_ADDR_RESOLVED);
  remove(address);
  EXPECT_THAT(next(), ::testing::AllOf(EventIs(RDMA_CM_EVENT_ADDR_ERROR), HasStatus(-1)));

  Placed route = place(Place::kRouteQuery);
  transport_.raise(*route.endpoint, RDMA_CM_EVENT_ROUTE_RESOLVED);
  remove(route);
  EXPECT_THAT(next(), ::testing::AllOf(EventIs(RDMA_CM_EVENT_ROUTE_ERROR), HasStatus(-1)));
}

TEST_F(IdAddress, IdsOnOneDeviceShareItsProtectionDomain) {
  Placed one = place(Place::kAddrResolved);
  Placed two = place(Place::kAddrBound);

  EXPECT_EQ(one.id->raw()->pd, two.id->raw()->pd);
  EXPECT_EQ(provider_.live.pds, 1u);

  one.id.reset();
  EXPECT_EQ(provider_.live.pds, 1u);
  two.id.reset();
  EXPECT_EQ(provider_.live.pds, 0u);
}

}  // namespace
}  // namespace anyrdma::cm::testing
