// What the courier does not use: atomics, windows, shared receive queues. It expects nothing for
// itself: the checkers judge.
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <chrono>
#include <cstdint>

#include "sim/testing/end.h"
#include "sim/world.h"
#include "tests/planted/oracles.h"

namespace anyrdma::planted {
namespace {

using namespace std::chrono_literals;

constexpr auto kAllRetries = 10s;

/// Two ends that are connected; the server's receives are shared.
struct Both {
  Both(sim::Host& here, sim::Host& there) : client(here), server(there), srq(server.make_srq()) {
    client.make_qp(IBV_QPT_RC);
    server.make_qp(IBV_QPT_RC, srq);
    client.connect(server);
    server.connect(client);
  }

  sim::testing::End client;
  sim::testing::End server;
  ibv_srq* srq;
};

class Workshop {
 public:
  explicit Workshop(const sim::Trial& trial) : world_(trial.seed) {
    EXPECT_TRUE(world_.faults().inject(trial.plan)) << trial.plan.to_string();
  }

  sim::Outcome run() {
    count();
    close_window();
    return_window();
    run_low();
    deregister();
    return sim::finish(world_);
  }

 private:
  void settle(Both& both) {
    world_.run_for(kAllRetries);
    (void)both.client.poll();
    (void)both.server.poll();
  }

  // As many at once as were agreed upon.
  void count() {
    for (std::uint64_t round = 0; round < 3; ++round) {
      counter_.client.add(counter_.server, 1);
      counter_.client.swap(counter_.server, 4 * round + 1, 4 * round + 2);
      counter_.client.add(counter_.server, 1);
      counter_.client.swap(counter_.server, 4 * round + 3, 4 * round + 4);
      settle(counter_);
    }
  }

  /// The key of a new window to the server's memory, which the client has used.
  std::uint32_t lend(Both& both) {
    ibv_mw* const window = ibv_alloc_mw(both.server.pd, IBV_MW_TYPE_2);
    const std::uint32_t key = ibv_inc_rkey(window->rkey);
    both.server.bind(window, key);
    settle(both);
    both.client.access(IBV_WR_RDMA_WRITE, both.server, key);
    settle(both);
    return key;
  }

  void close_window() {
    const std::uint32_t key = lend(closed_);
    closed_.server.post(IBV_WR_LOCAL_INV, 2, 0,
                        [key](ibv_send_wr& request) { request.invalidate_rkey = key; });
    settle(closed_);
    closed_.client.access(IBV_WR_RDMA_WRITE, closed_.server, key);
    settle(closed_);
  }

  void return_window() {
    const std::uint32_t key = lend(returned_);
    returned_.server.post_receive(1);
    returned_.client.post(IBV_WR_SEND_WITH_INV, 2, 8,
                          [key](ibv_send_wr& request) { request.invalidate_rkey = key; });
    settle(returned_);
    returned_.client.access(IBV_WR_RDMA_WRITE, returned_.server, key);
    settle(returned_);
  }

  void run_low() {
    for (std::uint64_t id = 1; id <= 6; ++id) low_.server.post_receive(id);
    constexpr ibv_srq_attr kLimit{.max_wr = 0, .max_sge = 0, .srq_limit = 3};
    (void)low_.server.hca().modify_srq(low_.srq, kLimit, IBV_SRQ_LIMIT).value();
    for (std::uint64_t id = 1; id <= 5; ++id) low_.client.post(IBV_WR_SEND, id, 16);
    settle(low_);
  }

  // The second step to ERR has nothing to tell.
  void deregister() {
    const std::uint32_t key = low_.server.mr->rkey;
    low_.server.hca().dereg_mr(low_.server.mr).value();
    low_.client.access(IBV_WR_RDMA_READ, low_.server, key);
    settle(low_);
    low_.server.modify(IBV_QPS_ERR, 0, {});
    low_.server.modify(IBV_QPS_ERR, 0, {});
    settle(low_);
  }

  sim::World world_;
  sim::Host& client_ = world_.add_host("client", {"10.0.0.2"});
  sim::Host& server_ = world_.add_host("server", {"10.0.0.1"});
  Both counter_{client_, server_};
  Both closed_{client_, server_};
  Both returned_{client_, server_};
  Both low_{client_, server_};
};

}  // namespace

sim::Outcome run_services(const sim::Trial& trial) {
  return judged([&trial] { return Workshop(trial).run(); });
}

}  // namespace anyrdma::planted
