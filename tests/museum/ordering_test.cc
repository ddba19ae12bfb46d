// Section C: Races and ordering in the CM event path
#include "tests/museum/exhibit.h"

namespace anyrdma::museum {
namespace {

class Ordering : public Exhibit {};

/// What libfabric's verbs endpoint made of events, in short: whatever ends the connection ends it
/// once, it was sure, and said so in an assertion.
class Endpoint {
 public:
  void on_event(rdma_cm_event_type type) {
    if (type == RDMA_CM_EVENT_ESTABLISHED) return;
    if (over_) assertion_fell_ = true;  // assert(state != DISCONNECTED)
    over_ = true;
  }
  [[nodiscard]] bool assertion_fell() const { return assertion_fell_; }

 private:
  bool over_ = false;
  bool assertion_fell_ = false;
};

// Exhibit 14: the kernel reports a neighbour that moved past the states of its own connection
// manager, so UNREACHABLE comes to a connected id, which stays connected.
// https://github.com/ofiwg/libfabric/issues/12362
TEST_F(Ordering, UnreachableComesAfterEstablished) {
  plan("at 1s: fail-over server eth0");
  serve([this] {
    const auto listener = server.listen(server_host.address(kPort));
    const Served served = accept();
    server.expect(RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_EQ(served.pipe->wait_received().status, IBV_WC_SUCCESS) << "the connection lives on";
  });
  ask([this] {
    const auto id = client.resolve(server_host.address(kPort));
    Pipe pipe(*id);
    const rdma_conn_param param = parameters("");
    EXPECT_TRUE(id->connect(&param));
    client.expect(RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_EQ(client.expect(RDMA_CM_EVENT_UNREACHABLE).status, -ETIMEDOUT);
    pipe.post(IBV_WR_SEND, 1, 0, 16);
    EXPECT_EQ(pipe.wait_sent().status, IBV_WC_SUCCESS);
  });

  run();
}

// Exhibit 14: the same UNREACHABLE behind a DISCONNECTED felled libfabric's assertion that a
// connection ends once. https://github.com/ofiwg/libfabric/pull/12378
TEST_F(Ordering, UnreachableBehindDisconnectedFellsAnAssertion) {
  plan("on client fetched DISCONNECTED 1: fail-over server eth0");
  Endpoint endpoint;
  serve([this] {
    const auto listener = server.listen(server_host.address(kPort));
    const Served served = accept();
    server.expect(RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_TRUE(served.id->disconnect());
    EXPECT_TRUE(server_host.sleep(1s));
  });
  ask([&] {
    const auto id = client.resolve(server_host.address(kPort));
    Pipe pipe(*id);
    const rdma_conn_param param = parameters("");
    EXPECT_TRUE(id->connect(&param));
    for (int events = 0; events < 3; ++events) endpoint.on_event(client.next()->type());
  });

  run();

  EXPECT_TRUE(endpoint.assertion_fell());
}

}  // namespace
}  // namespace anyrdma::museum
