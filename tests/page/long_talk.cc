// A recording that is as long as people make them: long_talk FILE [ROUNDS]. Pairs of programs on
// two hosts send messages to and fro; a round is a dozen records for each of them.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "sim/testing/program.h"
#include "sim/world.h"

namespace anyrdma::tests {
namespace {

using sim::testing::kPort;
using sim::testing::parameters;
using sim::testing::Pipe;
using sim::testing::Program;

constexpr int kPairs = 32;
constexpr std::uint32_t kBytes = 64;

/// Two programs that talk over one connection.
class Pair {
 public:
  Pair(sim::Host& server, sim::Host& client, int number, int rounds)
      : server_(server), client_(client), rounds_(rounds) {
    address_ = server.address(static_cast<std::uint16_t>(kPort + number));
    server.spawn("serve " + std::to_string(number), [this] { serve(); });
    client.spawn("ask " + std::to_string(number), [this] { ask(); });
  }

 private:
  void serve() {
    const auto listener = server_.listen(address_);
    const auto id = server_.expect_request();
    Pipe pipe(*id);
    pipe.post_receive(1, 0, kBytes);
    const rdma_conn_param param = parameters("");
    id->accept(&param).value();
    server_.expect(RDMA_CM_EVENT_ESTABLISHED);
    for (int i = 0; i < rounds_; ++i) {
      (void)pipe.wait_received();
      pipe.post_receive(1, 0, kBytes);
      pipe.post(IBV_WR_SEND, 2, kBytes, kBytes);
      (void)pipe.wait_sent();
    }
    server_.expect(RDMA_CM_EVENT_DISCONNECTED);
  }

  void ask() {
    const auto id = client_.resolve(address_);
    Pipe pipe(*id);
    const rdma_conn_param param = parameters("");
    id->connect(&param).value();
    client_.expect(RDMA_CM_EVENT_ESTABLISHED);
    for (int i = 0; i < rounds_; ++i) {
      pipe.post_receive(1, 0, kBytes);
      pipe.post(IBV_WR_SEND, 2, kBytes, kBytes);
      (void)pipe.wait_sent();
      (void)pipe.wait_received();
    }
    id->disconnect().value();
    client_.expect(RDMA_CM_EVENT_DISCONNECTED);
  }

  Program server_;
  Program client_;
  int rounds_;
  sim::Address address_;
};

bool run(const std::string& path, int rounds) {
  sim::WorldOptions options;
  options.record = path;
  options.link.jitter = std::chrono::microseconds(3);
  sim::World world(1, options);
  sim::Host& server = world.add_host("server", {"10.0.0.1"});
  sim::Host& client = world.add_host("client", {"10.0.0.2"});
  std::vector<std::unique_ptr<Pair>> pairs;
  for (int i = 0; i < kPairs; ++i)
    pairs.push_back(std::make_unique<Pair>(server, client, i, rounds));
  return world.recorder() != nullptr && world.run().has_value();
}

}  // namespace
}  // namespace anyrdma::tests

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: %s FILE [ROUNDS]\n", argv[0]);
    return 2;
  }
  constexpr int kRounds = 256;  // 100,000 records
  return anyrdma::tests::run(argv[1], argc == 3 ? std::atoi(argv[2]) : kRounds) ? 0 : 1;
}
