// RDMA_OPTION_IB_PATH: the application's own route (ucma.c:ucma_set_ib_path).
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <infiniband/sa.h>

#include <cerrno>
#include <cstring>

#include "transport/soft/testing/world.h"

namespace anyrdma::transport::soft::testing {
namespace {

constexpr std::uint32_t kUsable =
    IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY | IBV_PATH_FLAG_BIDIRECTIONAL;
constexpr unsigned kExactly = 2u << 6;  // a selector

class PathOption : public World {
 protected:
  void TearDown() override { b.events.requests.clear(); }
  void resolve() {
    const Sockaddr to(b.address(0, kPort));
    ASSERT_TRUE(client->resolve_address(nullptr, to.get(), std::chrono::seconds(1)));
    settle();
    (void)a.events.only(RDMA_CM_EVENT_ADDR_RESOLVED);
  }
  ibv_path_data usable() const {
    ibv_path_data data{};
    data.flags = kUsable;
    data.path.sgid = a.address().gid();
    data.path.dgid = b.address().gid();
    data.path.flowlabel_hoplimit = htonl(0xabcdeu << 8 | 9);
    data.path.tclass = 0x77;
    data.path.pkey = htons(0xffff);
    data.path.qosclass_sl = htons(5);
    data.path.mtu = kExactly | IBV_MTU_2048;
    data.path.rate = kExactly | IBV_RATE_10_GBPS;
    data.path.packetlifetime = kExactly | 14;
    return data;
  }
  int set(const std::vector<ibv_path_data>& records, std::size_t excess = 0) {
    const auto* first = reinterpret_cast<const std::uint8_t*>(records.data());
    std::vector<std::uint8_t> bytes(first, first + records.size() * sizeof(ibv_path_data));
    bytes.resize(bytes.size() + excess);
    const Result<void> done = client->set_option(RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, bytes);
    return done ? 0 : done.error().value();
  }

  std::unique_ptr<Endpoint> client = a.endpoint();
};

TEST_F(PathOption, TheFirstUsableRecordIsTheRoute) {
  resolve();
  ibv_path_data other = usable();
  other.flags = IBV_PATH_FLAG_ALTERNATE;
  ibv_path_data later = usable();
  later.path.tclass = 1;

  ASSERT_EQ(set({other, usable(), later}), 0);

  const ibv_sa_path_rec* path = client->path();
  ASSERT_NE(path, nullptr);
  EXPECT_EQ(ntohl(path->flow_label), 0xabcdeu);
  EXPECT_EQ(path->hop_limit, 9);
  EXPECT_EQ(path->traffic_class, 0x77);
  EXPECT_EQ(path->sl, 5);
  EXPECT_EQ(path->mtu, IBV_MTU_2048);
  EXPECT_EQ(path->rate, IBV_RATE_10_GBPS);
  EXPECT_EQ(path->packet_life_time, 14);
  EXPECT_EQ(path->packet_life_time_selector, 2);
  EXPECT_EQ(0, std::memcmp(path->dgid.raw, b.address().ip.data(), 16));
}

TEST_F(PathOption, AConnectionTakesTheRoute) {
  auto server = listener(b, b.address(0, kPort));
  resolve();
  ASSERT_EQ(set({usable()}), 0);

  ASSERT_TRUE(client->connect({}));
  settle();

  ASSERT_EQ(b.events.requests.size(), 1u);
  EXPECT_EQ(b.events.requests[0]->path()->mtu, IBV_MTU_2048);
  EXPECT_EQ(b.events.requests[0]->path()->traffic_class, 0x77);
}

TEST_F(PathOption, ARouteFromAnotherHostsGidConnectsToNobody) {
  resolve();
  ibv_path_data foreign = usable();
  foreign.path.sgid = b.address().gid();
  ASSERT_EQ(set({foreign}), 0);

  EXPECT_EQ(client->connect({}).error(), verbs::errno_code(EINVAL));
}

TEST_F(PathOption, NeedsARecordThatIsUsableAndWhole) {
  resolve();
  ibv_path_data partly = usable();
  partly.flags = IBV_PATH_FLAG_GMP | IBV_PATH_FLAG_PRIMARY;

  EXPECT_EQ(set({}), EINVAL);
  EXPECT_EQ(set({partly}), EINVAL);
  EXPECT_EQ(set({usable()}, 1), EINVAL);
  EXPECT_EQ(client->path(), nullptr);
}

TEST_F(PathOption, ComesAfterTheAddressAndOnce) {
  EXPECT_EQ(set({usable()}), EINVAL);
  resolve();
  EXPECT_EQ(set({usable()}), 0);
  EXPECT_EQ(set({usable()}), EINVAL);
}

// librdmacm asks for the path when the event is fetched; that it is gone by then makes ROUTE_ERROR.
TEST_F(PathOption, ARemovedDeviceTakesTheRouteAlong) {
  resolve();
  ASSERT_TRUE(client->resolve_route(std::chrono::seconds(1)));
  ASSERT_NE(client->path(), nullptr);

  a.transport->remove_device(*a.hcas[0]);

  EXPECT_EQ(client->path(), nullptr);
}

}  // namespace
}  // namespace anyrdma::transport::soft::testing
