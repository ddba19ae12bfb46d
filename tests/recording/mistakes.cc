#include "tests/recording/mistakes.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <functional>

#include "sim/recorder.h"

namespace anyrdma::tests {
namespace {

using namespace std::chrono_literals;
using sim::testing::kPort;
using sim::testing::parameters;
using sim::testing::Pipe;

constexpr char kAnswer[] = "384400 km";

}  // namespace

Mistakes::Mistakes(sim::World& world)
    : world_(world),
      server_(world.add_host("server", {"192.0.2.1"})),
      client_(world.add_host("client", {"192.0.2.2"})) {}

Mistakes::~Mistakes() {
  if (world_.recorder() != nullptr) world_.recorder()->close();
  world_.scheduler().fibers().close();
}

Mistakes::Side Mistakes::accept() {
  Side side{server_.expect_request(), nullptr};
  if (side.id == nullptr) return side;
  side.pipe = std::make_unique<Pipe>(*side.id);
  side.pipe->post_receive(1, 0, 64);
  const rdma_conn_param param = parameters("");
  EXPECT_TRUE(side.id->accept(&param));
  return side;
}

Mistakes::Side Mistakes::connect() {
  Side side{client_.resolve(server_.host().address(kPort)), nullptr};
  side.pipe = std::make_unique<Pipe>(*side.id);
  const rdma_conn_param param = parameters("");
  EXPECT_TRUE(side.id->connect(&param));
  client_.expect(RDMA_CM_EVENT_ESTABLISHED);
  return side;
}

void Mistakes::serve(std::function<void()> body) {
  server_.host().spawn("serve", std::move(body));
}

void Mistakes::ask(std::function<void()> body) {
  client_.host().spawn("ask", std::move(body));
}

void Mistakes::forgets_to_acknowledge() {
  serve([this] {
    const auto listener = server_.listen(server_.host().address(kPort));
    Side side = accept();
    server_.expect(RDMA_CM_EVENT_ESTABLISHED);
    const auto event = server_.channel().get();
    if (!event || event->type() != RDMA_CM_EVENT_DISCONNECTED) return;
    side.pipe.reset();
    (void)cm::Id::destroy(std::move(side.id)).has_value();
  });
  ask([this] {
    const Side side = connect();
    EXPECT_TRUE(client_.host().sleep(10ms));
    EXPECT_TRUE(side.id->disconnect());
    client_.expect(RDMA_CM_EVENT_DISCONNECTED);
  });
}

void Mistakes::never_hears_of_the_end() {
  world_.faults()
      .inject(sim::FaultPlan::parse("on client->server DREQ all: lose\n").value())
      .value();
  serve([this] {
    const auto listener = server_.listen(server_.host().address(kPort));
    const Side side = accept();
    server_.expect(RDMA_CM_EVENT_ESTABLISHED);
    (void)server_.channel().get().has_value();
  });
  ask([this] {
    const Side side = connect();
    EXPECT_TRUE(client_.host().sleep(10ms));
    EXPECT_TRUE(side.id->disconnect());
    client_.expect(RDMA_CM_EVENT_DISCONNECTED);
  });
}

void Mistakes::waits_at_the_wrong_channel() {
  serve([this] {
    const auto listener = server_.listen(server_.host().address(kPort));
    sim::testing::Program worker(server_.host());
    const Side side = accept();
    EXPECT_TRUE(side.id->migrate(worker.channel()));
    (void)server_.channel().get().has_value();
  });
  ask([this] {
    const Side side = connect();
    EXPECT_TRUE(client_.host().sleep(10ms));
  });
}

void Mistakes::reads_too_early() {
  serve([this] {
    const auto listener = server_.listen(server_.host().address(kPort));
    const Side side = accept();
    server_.expect(RDMA_CM_EVENT_ESTABLISHED);
    // Where to read: what a program would tell its peer in a message.
    std::memcpy(side.pipe->buffer().data() + 64, "", 1);
    const std::uint64_t where[] = {side.pipe->address() + 64, side.pipe->rkey()};
    std::memcpy(side.pipe->buffer().data(), where, sizeof where);
    side.pipe->post(IBV_WR_SEND, 2, 0, sizeof where);
    EXPECT_EQ(side.pipe->wait_sent().status, IBV_WC_SUCCESS);
    EXPECT_TRUE(server_.host().sleep(1ms));  // it computes
    std::memcpy(side.pipe->buffer().data() + 64, kAnswer, sizeof kAnswer);
    server_.host().note("the answer is in place");
    server_.expect(RDMA_CM_EVENT_DISCONNECTED);
  });
  ask([this] {
    Side side{client_.resolve(server_.host().address(kPort)), nullptr};
    side.pipe = std::make_unique<Pipe>(*side.id);
    side.pipe->post_receive(1, 0, 64);
    const rdma_conn_param param = parameters("", 1, 1);
    EXPECT_TRUE(side.id->connect(&param));
    client_.expect(RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_EQ(side.pipe->wait_received().status, IBV_WC_SUCCESS);
    std::uint64_t where[2];
    std::memcpy(where, side.pipe->buffer().data(), sizeof where);
    side.pipe->post(IBV_WR_RDMA_READ, 3, 64, sizeof kAnswer, where[0],
                    static_cast<std::uint32_t>(where[1]));
    EXPECT_EQ(side.pipe->wait_sent().status, IBV_WC_SUCCESS);
    EXPECT_STREQ(reinterpret_cast<const char*>(side.pipe->buffer().data() + 64), kAnswer);
    EXPECT_TRUE(client_.host().sleep(10ms));
    EXPECT_TRUE(side.id->disconnect());
    client_.expect(RDMA_CM_EVENT_DISCONNECTED);
  });
}

void Mistakes::receives_too_late() {
  serve([this] {
    const auto listener = server_.listen(server_.host().address(kPort));
    const auto id = server_.expect_request();
    Pipe pipe(*id);
    rdma_conn_param param = parameters("");
    param.rnr_retry_count = 0;
    EXPECT_TRUE(id->accept(&param));
    server_.expect(RDMA_CM_EVENT_ESTABLISHED);
    EXPECT_TRUE(server_.host().sleep(1ms));  // it prepares itself
    pipe.post_receive(1, 0, 64);
    server_.expect(RDMA_CM_EVENT_DISCONNECTED);
  });
  ask([this] {
    const auto id = client_.resolve(server_.host().address(kPort));
    Pipe pipe(*id);
    rdma_conn_param param = parameters("");
    param.rnr_retry_count = 0;
    EXPECT_TRUE(id->connect(&param));
    client_.expect(RDMA_CM_EVENT_ESTABLISHED);
    pipe.post(IBV_WR_SEND, 2, 0, 64);
    EXPECT_EQ(pipe.wait_sent().status, IBV_WC_SUCCESS);
    EXPECT_TRUE(client_.host().sleep(10ms));
    EXPECT_TRUE(id->disconnect());
    client_.expect(RDMA_CM_EVENT_DISCONNECTED);
  });
}

}  // namespace anyrdma::tests
