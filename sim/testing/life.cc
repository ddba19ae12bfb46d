#include "sim/testing/life.h"

#include <cstring>

namespace anyrdma::sim::testing {
namespace {

constexpr std::uint32_t kLength = 16;
constexpr std::size_t kMessageAt = 1024;

bool is_end(rdma_cm_event_type type) {
  return type == RDMA_CM_EVENT_DISCONNECTED || type == RDMA_CM_EVENT_UNREACHABLE ||
         type == RDMA_CM_EVENT_REJECTED || type == RDMA_CM_EVENT_CONNECT_ERROR ||
         type == RDMA_CM_EVENT_DEVICE_REMOVAL;
}

/// A different bad network for each seed; three in four have some of each ill.
LinkOptions link_of(World& world) {
  RandomStream& random = world.random("link options");
  LinkOptions link;
  if (random.below(4) == 0) return link;
  const auto percent = [&random](std::uint64_t below) {
    return static_cast<double>(random.below(below)) / 100;
  };
  link.loss = percent(30);
  link.duplicate = percent(20);
  link.reorder = percent(30);
  link.jitter = Duration(random.below(5000));
  return link;
}

}  // namespace

Life::Life(World&, Host& client, Host& server) : client_(client), server_(server) {}

void Life::start() {
  server_.host().spawn("server", [this] { run_server(); });
  client_.host().spawn("client", [this] { run_client(); });
}

void Life::await_end(Program& program) {
  while (true) {
    const std::optional<cm::Event> event = program.next();
    if (!event || is_end(event->type())) return;
  }
}

bool Life::exchange(Pipe& pipe) {
  pipe.post(IBV_WR_SEND, 2, kMessageAt, kLength);
  for (const bool sent : {true, false}) {
    if ((sent ? pipe.wait_sent() : pipe.wait_received()).status != IBV_WC_SUCCESS) return false;
    ++completions_;
  }
  return true;
}

void Life::run_client() {
  auto id = client_.resolve(server_.host().address(kPort));
  {
    Pipe pipe(*id);
    pipe.post_receive(1, 0, kLength);
    const rdma_conn_param param = parameters("hello", 3, 5);
    id->connect(&param).value();
    const std::optional<cm::Event> answer = client_.next();
    established_ = answer && answer->type() == RDMA_CM_EVENT_ESTABLISHED;
    if (established_ && exchange(pipe)) client_.host().note("exchanged");
    (void)id->disconnect().has_value();
    if (established_) await_end(client_);
  }
}

void Life::serve(cm::Id& id) {
  Pipe pipe(id);
  pipe.post_receive(1, 0, kLength);
  const rdma_conn_param param = parameters("welcome", 1, 2);
  if (!id.accept(&param)) return;
  const std::optional<cm::Event> answer = server_.next();
  if (!answer || is_end(answer->type())) return;
  (void)exchange(pipe);
  await_end(server_);
  (void)id.disconnect().has_value();
}

void Life::run_server() {
  auto listener = server_.listen(server_.host().address(kPort));
  const auto id = server_.expect_request();
  if (id != nullptr) serve(*id);
}

LifeResult run_life(std::uint64_t seed, Tracing tracing) {
  WorldOptions options;
  options.tracing = tracing;
  World world(seed, options);
  Host& client = world.add_host("client", {"192.0.2.1"});
  Host& server = world.add_host("server", {"192.0.2.2"});
  world.set_link(client, server, link_of(world));
  LifeResult result;
  {
    Life life(world, client, server);
    life.start();
    result.at_rest = world.run().has_value();
    result.established = life.established();
  }
  result.hash = world.trace().hash();
  result.packets = world.packets();
  result.end = world.now();
  return result;
}

}  // namespace anyrdma::sim::testing
