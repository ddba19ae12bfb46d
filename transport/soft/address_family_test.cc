// The rarer addresses: InfiniBand's own (AF_IB) on a RoCE host, link-local ones, and IPoIB's ports.
#include <arpa/inet.h>
#include <endian.h>
#include <gtest/gtest.h>
#include <infiniband/ib.h>

#include <cerrno>
#include <cstring>

#include "transport/soft/cma_header.h"
#include "transport/soft/testing/world.h"
#include "verbs/testing/errno_of.h"

namespace anyrdma::transport::soft::testing {
namespace {

using verbs::testing::errno_of;

using namespace std::chrono_literals;

constexpr std::uint64_t kWhole = ~std::uint64_t{0};

/// A sockaddr_ib, for calls.
struct IbAddress {
  IbAddress(const ibv_gid& gid, std::uint64_t service, std::uint64_t mask) {
    ib.sib_family = AF_IB;
    std::memcpy(&ib.sib_addr, gid.raw, sizeof gid.raw);
    ib.sib_sid = htobe64(service);
    ib.sib_sid_mask = htobe64(mask);
  }
  [[nodiscard]] const sockaddr& get() const { return reinterpret_cast<const sockaddr&>(ib); }
  sockaddr_ib ib{};
};

std::uint64_t service_of(rdma_port_space space, std::uint16_t port) {
  return std::uint64_t{space} << 16 | port;
}

sockaddr_ib source_of(const Endpoint& endpoint) {
  sockaddr_ib ib;
  const Binding binding = endpoint.binding();
  std::memcpy(&ib, &binding.addr.src_storage, sizeof ib);
  return ib;
}

class InfinibandAddress : public World {
 protected:
  void TearDown() override { b.events.requests.clear(); }
  int bind(Endpoint& at, std::uint64_t service, std::uint64_t mask = kWhole) {
    return errno_of(at.bind(IbAddress({}, service, mask).get()));
  }
  int bind(rdma_port_space space, std::uint64_t service) {
    return bind(*a.endpoint(space), service);
  }
  std::unique_ptr<Endpoint> endpoint = a.endpoint();
};

TEST_F(InfinibandAddress, ASpecificOneHasNoDeviceOnRoce) {
  const IbAddress own(a.address().gid(), service_of(RDMA_PS_TCP, kPort), kWhole);

  EXPECT_EQ(errno_of(endpoint->bind(own.get())), ENODEV);
  EXPECT_EQ(bind(*endpoint, service_of(RDMA_PS_TCP, kPort)), 0);  // still unbound
}

TEST_F(InfinibandAddress, AnyAddressBindsTheServiceItNames) {
  ASSERT_EQ(bind(*endpoint, service_of(RDMA_PS_TCP, kPort)), 0);

  const sockaddr_ib bound = source_of(*endpoint);
  EXPECT_EQ(bound.sib_family, AF_IB);
  EXPECT_EQ(be64toh(bound.sib_sid), service_of(RDMA_PS_TCP, kPort));
  EXPECT_EQ(be64toh(bound.sib_sid_mask), kWhole);
  EXPECT_EQ(endpoint->binding().verbs, nullptr);
}

TEST_F(InfinibandAddress, AnOpenServiceIsOneOfTheIdsOwnSpaceWithAFreePort) {
  ASSERT_EQ(bind(*endpoint, 0, 0), 0);

  const std::uint64_t service = be64toh(source_of(*endpoint).sib_sid);
  EXPECT_EQ(service >> 16, std::uint64_t{RDMA_PS_TCP});
  EXPECT_GE(service & 0xffff, 32768u);
}

TEST_F(InfinibandAddress, TheServicesSpaceMustBeOneThatTheIdMayUse) {
  EXPECT_EQ(bind(RDMA_PS_TCP, service_of(RDMA_PS_UDP, kPort)), EPROTONOSUPPORT);
  EXPECT_EQ(bind(RDMA_PS_TCP, service_of(RDMA_PS_IB, kPort)), EPROTONOSUPPORT);
  EXPECT_EQ(bind(RDMA_PS_UDP, service_of(RDMA_PS_TCP, kPort)), EPROTONOSUPPORT);
  EXPECT_EQ(bind(RDMA_PS_UDP, service_of(RDMA_PS_UDP, kPort)), 0);
  EXPECT_EQ(bind(RDMA_PS_IPOIB, service_of(RDMA_PS_IPOIB, kPort)), EPROTONOSUPPORT);
  EXPECT_EQ(bind(RDMA_PS_IB, service_of(RDMA_PS_TCP, kPort)), 0);
  EXPECT_EQ(bind(RDMA_PS_IB, service_of(RDMA_PS_UDP, kPort)), 0);
  EXPECT_EQ(bind(RDMA_PS_IB, service_of(RDMA_PS_IB, kPort)), 0);
  EXPECT_EQ(bind(RDMA_PS_IB, kPort), EPROTONOSUPPORT);  // names a space that is none
  EXPECT_EQ(bind(RDMA_PS_IB, std::uint64_t{1} << 60 | kPort), EPROTONOSUPPORT);
}

TEST_F(InfinibandAddress, ItsPortsAreThoseOfTheSpaceItNames) {
  ASSERT_EQ(bind(*endpoint, service_of(RDMA_PS_TCP, kPort)), 0);
  const Sockaddr ip(Address::ipv4(0, kPort));

  EXPECT_EQ(bind(RDMA_PS_IB, service_of(RDMA_PS_TCP, kPort)), EADDRNOTAVAIL);
  EXPECT_EQ(errno_of(a.endpoint(RDMA_PS_TCP)->bind(ip.get())), EADDRNOTAVAIL);
  EXPECT_EQ(errno_of(a.endpoint(RDMA_PS_IB)->bind(ip.get())), 0);
}

TEST_F(InfinibandAddress, NothingIsResolvedToOne) {
  const IbAddress peer(b.address().gid(), service_of(RDMA_PS_TCP, kPort), kWhole);

  EXPECT_EQ(errno_of(endpoint->resolve_address(nullptr, peer.get(), 1s)), ENODEV);
  settle();

  EXPECT_TRUE(a.events.events.empty());
  EXPECT_EQ(errno_of(endpoint->listen(8)), 0);  // bound on the way
}

TEST_F(InfinibandAddress, LoopbackResolvesButHasNoRoute) {
  const IbAddress self({}, service_of(RDMA_PS_TCP, kPort), kWhole);
  ASSERT_EQ(errno_of(endpoint->resolve_address(nullptr, self.get(), 1s)), 0);
  settle();
  (void)a.events.only(RDMA_CM_EVENT_ADDR_RESOLVED);

  EXPECT_EQ(errno_of(endpoint->resolve_route(1s)), ENODEV);
}

TEST_F(InfinibandAddress, FamiliesMustAgree) {
  ASSERT_EQ(bind(*endpoint, service_of(RDMA_PS_TCP, kPort)), 0);
  const Sockaddr ip(b.address(0, kPort));

  EXPECT_EQ(errno_of(endpoint->resolve_address(nullptr, ip.get(), 1s)), EINVAL);
}

// The listener knows nothing of the header that IP ids put in front of their data.
TEST_F(InfinibandAddress, AListenerHearsIpRequestsWithTheirHeader) {
  auto server = b.endpoint();
  ASSERT_EQ(bind(*server, service_of(RDMA_PS_TCP, kPort)), 0);
  ASSERT_EQ(errno_of(server->listen(8)), 0);
  auto client = routed(a, b.address(0, kPort));
  const std::vector<std::uint8_t> data{7};

  ASSERT_TRUE(client->connect({.private_data = data}));
  settle();

  const Seen seen = b.events.only(RDMA_CM_EVENT_CONNECT_REQUEST);
  ASSERT_EQ(seen.private_data.size(), 92u);
  EXPECT_TRUE(CmaHeader::parse(seen.private_data)->source.same_ip(a.address()));
  EXPECT_EQ(seen.private_data[CmaHeader::kSize], 7);
  const sockaddr_ib local = source_of(*b.events.requests.at(0));
  EXPECT_EQ(local.sib_family, AF_IB);
  EXPECT_EQ(be64toh(local.sib_sid), service_of(RDMA_PS_TCP, kPort));
  EXPECT_EQ(0, std::memcmp(&local.sib_addr, b.address().ip.data(), 16));
}

TEST_F(InfinibandAddress, ADatagramListenerHearsTheWholeQuestion) {
  auto server = b.endpoint(RDMA_PS_UDP);
  ASSERT_EQ(bind(*server, service_of(RDMA_PS_UDP, kPort)), 0);
  ASSERT_EQ(errno_of(server->listen(8)), 0);
  auto client = routed(a, b.address(0, kPort), RDMA_PS_UDP);

  ASSERT_TRUE(client->connect({}));
  settle();

  EXPECT_EQ(b.events.only(RDMA_CM_EVENT_CONNECT_REQUEST).private_data.size(), 216u);
}

// --- link-local addresses -----------------------------------------------------------------------

constexpr int kInterface = 1;

class LinkLocal : public World {
 protected:
  LinkLocal() {
    for (Host* host : {&a, &b}) {
      host->network.addresses[kInterface] = address(*host);
      host->add_device(kInterface).set_gid(2, address(*host).gid());
    }
  }
  void TearDown() override { b.events.requests.clear(); }
  static Address address(const Host& host, std::uint16_t port = 0,
                         std::uint32_t scope = kInterface) {
    Address local{.family = AF_INET6, .port = port, .scope = scope};
    local.ip[0] = 0xfe;
    local.ip[1] = 0x80;
    local.ip[15] = static_cast<std::uint8_t>(host.number);
    return local;
  }
};

TEST_F(LinkLocal, BothSidesNameTheInterface) {
  auto server = listener(b, address(b, kPort));
  auto client = routed(a, address(b, kPort));

  ASSERT_TRUE(client->connect({}));
  settle();

  ASSERT_EQ(b.events.requests.size(), 1u);
  const Binding binding = b.events.requests[0]->binding();
  const auto& local = reinterpret_cast<const sockaddr&>(binding.addr.src_storage);
  const auto& peer = reinterpret_cast<const sockaddr&>(binding.addr.dst_storage);
  EXPECT_EQ(Address::from(local).value(), address(b, kPort));
  EXPECT_TRUE(Address::from(peer).value().same_ip(address(a)));
}

TEST_F(LinkLocal, AnAddressOfAnotherInterfaceIsNotOurs) {
  const Sockaddr elsewhere(address(a, kPort, kInterface + 1));

  EXPECT_EQ(errno_of(a.endpoint()->bind(elsewhere.get())), EADDRNOTAVAIL);
}

TEST_F(LinkLocal, WithoutAScopeItIsInvalid) {
  const Sockaddr unscoped(address(b, kPort, 0));

  EXPECT_EQ(errno_of(a.endpoint()->bind(unscoped.get())), EINVAL);
  EXPECT_EQ(errno_of(a.endpoint()->resolve_address(nullptr, unscoped.get(), 1s)), EINVAL);
}

// --- IPoIB's ports ------------------------------------------------------------------------------

TEST_F(InfinibandAddress, TheSpaceOfIpoibHasNoAddressOnRoce) {
  auto ipoib = a.endpoint(RDMA_PS_IPOIB);
  const Sockaddr local(a.address(0, kPort));
  const Sockaddr peer(b.address(0, kPort));

  EXPECT_EQ(errno_of(ipoib->bind(local.get())), EINVAL);
  ASSERT_EQ(errno_of(ipoib->resolve_address(nullptr, peer.get(), 1s)), 0);
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_ADDR_ERROR).status, -EINVAL);
}

}  // namespace
}  // namespace anyrdma::transport::soft::testing
