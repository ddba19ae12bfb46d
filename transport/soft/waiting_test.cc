// Requests that find no room: they wait where the driver wants it, and are lost elsewhere.
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "transport/soft/testing/world.h"

namespace anyrdma::transport::soft::testing {
namespace {

using namespace std::chrono_literals;

class Waiting : public World {
 protected:
  explicit Waiting(std::size_t waiting_max = 2) : World({.waiting_requests_max = waiting_max}) {
    server = listener(b, b.address(0, kPort));
    b.events.room = 0;
  }
  void TearDown() override {
    clients.clear();
    b.events.requests.clear();
    server.reset();
  }
  void connect(int count) {
    for (int i = 0; i < count; ++i) {
      clients.push_back(routed(a, b.address(0, kPort)));
      const std::array data{static_cast<std::uint8_t>(i)};
      EXPECT_TRUE(clients.back()->connect(
          {.qp_num = static_cast<std::uint32_t>(i + 1), .private_data = data}));
      settle();
    }
  }
  /// What tells the requests apart that the listener took, in order.
  [[nodiscard]] std::vector<int> taken() const {
    std::vector<int> all;
    for (const Seen& seen : b.events.events) all.push_back(seen.private_data.at(0));
    return all;
  }

  std::unique_ptr<Endpoint> server;
  std::vector<std::unique_ptr<Endpoint>> clients;
};

struct NobodyWaits : Waiting {
  NobodyWaits() : Waiting(0) {}
};

TEST_F(Waiting, RequestsAreAdmittedInOrderAsThereIsRoom) {
  connect(2);

  b.events.room = 1;
  settle();
  EXPECT_EQ(taken(), (std::vector{0}));
  b.events.room = 1;
  settle();
  EXPECT_EQ(taken(), (std::vector{0, 1}));
}

TEST_F(Waiting, RequestThatWaitedIsAcceptedLikeAnyOther) {
  connect(1);
  b.events.room = 1;
  settle();

  EXPECT_TRUE(b.events.requests.front()->reject(28, {}));
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_REJECTED).status, 28);
}

TEST_F(Waiting, MoreThanTheRoomHoldsAreLost) {
  connect(3);

  b.events.room = 3;
  settle();

  EXPECT_EQ(taken(), (std::vector{0, 1}));
}

TEST_F(Waiting, AfterFourSecondsARequestIsLost) {
  connect(1);

  run_for(4s);
  b.events.room = 1;
  settle();

  EXPECT_EQ(taken(), std::vector<int>{});
}

TEST_F(Waiting, RequestsOfAPeerThatIsGoneAreForgotten) {
  connect(2);

  b.transport->on_peer_gone(runtime.time, 0, 0, {});  // whatever its comm ids
  b.events.room = 2;
  settle();

  EXPECT_EQ(taken(), std::vector<int>{});
}

TEST_F(Waiting, RequestsOfARemovedDeviceAreForgotten) {
  connect(1);

  b.transport->remove_device(*b.hcas.front());
  b.events.room = 1;
  settle();

  EXPECT_TRUE(b.events.requests.empty());
}

TEST_F(Waiting, WithoutAListenerARequestThatWaitedIsRejected) {
  connect(1);

  server.reset();
  settle();

  EXPECT_EQ(a.events.only(RDMA_CM_EVENT_REJECTED).status, 8);
}

TEST_F(NobodyWaits, RequestsAreLostAtOnce) {
  connect(1);

  b.events.room = 1;
  settle();

  EXPECT_EQ(taken(), std::vector<int>{});
}

}  // namespace
}  // namespace anyrdma::transport::soft::testing
