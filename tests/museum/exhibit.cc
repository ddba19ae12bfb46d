#include "tests/museum/exhibit.h"

#include <cstdio>
#include <ctime>
#include <list>
#include <optional>
#include <string>

#include "sim/recorder.h"

namespace anyrdma::museum {

namespace {

/// A figure, no bound: what an exhibit costs is also the machine's doing.
class Stopwatch final : public ::testing::EmptyTestEventListener {
  void OnTestStart(const ::testing::TestInfo&) override { start_ = std::clock(); }
  void OnTestEnd(const ::testing::TestInfo& test) override {
    const std::clock_t took = std::clock() - start_;
    if (took < longest_) return;
    longest_ = took;
    slowest_ = test.name();
  }
  void OnTestProgramEnd(const ::testing::UnitTest&) override {
    std::printf("the longest, %s, took %.3f s of processor time\n", slowest_.c_str(),
                static_cast<double>(longest_) / CLOCKS_PER_SEC);
  }

  std::clock_t start_ = 0;
  std::clock_t longest_ = 0;
  std::string slowest_;
};

[[maybe_unused]] const bool kInstalled =
    (::testing::UnitTest::GetInstance()->listeners().Append(new Stopwatch), true);

}  // namespace

void Exhibit::plan(std::string_view lines) {
  const auto parsed = sim::FaultPlan::parse(lines);
  ASSERT_TRUE(parsed) << parsed.error().to_string();
  ASSERT_TRUE(world.faults().inject(*parsed));
}

void Exhibit::serve(std::function<void()> body) {
  server_host.spawn("serve", std::move(body), sim::Ending::kMayServe);
}

void Exhibit::ask(std::function<void()> body) {
  client_host.spawn("ask", std::move(body));
}

void Exhibit::run() {
  ASSERT_TRUE(world.run()) << world.stuck_report();
}

std::string Exhibit::run_into_hang() {
  EXPECT_FALSE(world.run()) << "nobody hangs";
  std::string report = world.stuck_report();
  close();
  return report;
}

void Exhibit::close() {
  if (world.recorder() != nullptr) world.recorder()->close();
  world.scheduler().fibers().close();
}

Exhibit::Connection Exhibit::accept() {
  Connection side{server.expect_request(), nullptr};
  if (side.id == nullptr) return side;
  side.pipe = std::make_unique<Pipe>(*side.id);
  side.pipe->post_receive(1, 0, 64);
  const rdma_conn_param param = parameters("");
  EXPECT_TRUE(side.id->accept(&param));
  return side;
}

void Exhibit::serve_everybody() {
  serve([this] {
    const auto listener = server.listen(server_host.address(kPort));
    std::list<Connection> all;
    while (std::optional<cm::Event> event = server.next()) {
      if (event->type() == RDMA_CM_EVENT_DISCONNECTED) (void)event->id().disconnect().has_value();
      if (event->type() != RDMA_CM_EVENT_CONNECT_REQUEST) continue;
      Connection& served = all.emplace_back();
      served.id = event->take_request();
      served.pipe = std::make_unique<Pipe>(*served.id);
      for (int i = 0; i < 8; ++i) served.pipe->post_receive(1, 0, 64);
      const rdma_conn_param param = parameters("");
      EXPECT_TRUE(served.id->accept(&param));
    }
  });
}

Exhibit::Connection Exhibit::connect() {
  Connection side{client.resolve(server_host.address(kPort)), nullptr};
  side.pipe = std::make_unique<Pipe>(*side.id);
  const rdma_conn_param param = parameters("");
  EXPECT_TRUE(side.id->connect(&param));
  client.expect(RDMA_CM_EVENT_ESTABLISHED);
  return side;
}

}  // namespace anyrdma::museum
