// The data path inside the simulator, all in: two hosts in one world, a program on each, a reliable
// connection of path MTU 4096. A request's time holds its post, its packets and their
// acknowledgement on the virtual wire, the far end, and the polls of both sides, with a receive
// posted again for each SEND. Each request is posted by a call of its own and signaled. Beside
// them, in the same run, memcpy. The goals are 150 ns for a small request of a stream, and half of
// memcpy for 64 KiB.
//
// send, write         a stream: up to 64 requests of 64 bytes under way
// write_traced        the same, with the hash of the trace
// write_alone         one at a time: each waits for the last one's completion, with a turn of the
//                     event queue and of the fibers for the packet and for its acknowledgement
// write_large         up to 4 requests under way
// read_large          likewise
#include <benchmark/benchmark.h>
#include <infiniband/verbs.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "sim/world.h"
#include "tests/bench/reliable_connection.h"
#include "verbs/completion_queue.h"
#include "verbs/context.h"
#include "verbs/memory.h"
#include "verbs/queue_pair.h"

namespace {

using namespace anyrdma;

constexpr std::uint32_t kWindow = 64;
constexpr std::size_t kPolled = 16;  // completions at a time
constexpr std::size_t kBufferBytes = 1 << 16;

/// A program's verbs objects on its host.
class End {
 public:
  explicit End(sim::Host& host)
      : host_(host),
        context_(verbs::Context::open(host.hca(), host.hca().device()).value()),
        pd_(verbs::ProtectionDomain::create(context_.get()).value()),
        cq_(verbs::CompletionQueue::create(context_.get(), 2 * kWindow).value()),
        memory_(verbs::MemoryRegion::create(
                    pd_.get(), buffer_.data(), buffer_.size(),
                    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ)
                    .value()) {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq_.get();
    init.qp_type = IBV_QPT_RC;
    init.cap = {kWindow, kWindow, 1, 1, 0};
    qp_ = verbs::QueuePair::create(pd_.get(), &init).value();
  }

  void connect(const End& peer) {
    bench::connect_by_hand(
        bench::connection_to(peer.qp_.get()->qp_num, peer.host_.hca().gids().front()),
        [&](ibv_qp_attr* attr, int mask) { qp_.modify(attr, mask).value(); });
  }

  void post_receive() {
    ibv_sge piece = memory_.piece(0, 64);
    ibv_recv_wr request{};
    request.sg_list = &piece;
    request.num_sge = 1;
    if (!qp_.post_recv(&request)) std::abort();
  }

  void post(const End& to, ibv_wr_opcode opcode, std::uint32_t length) {
    ibv_sge piece = memory_.piece(0, length);
    ibv_send_wr request{};
    request.sg_list = &piece;
    request.num_sge = 1;
    request.opcode = opcode;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(to.buffer_.data());
    request.wr.rdma.rkey = to.memory_.get()->rkey;
    if (!qp_.post_send(&request)) std::abort();
  }

  /// How many completions there were; 0: something else has happened meanwhile.
  [[nodiscard]] std::size_t take() {
    std::array<ibv_wc, kPolled> completions;
    const std::size_t got = cq_.poll(completions).value();
    for (std::size_t i = 0; i < got; ++i) {
      if (completions[i].status != IBV_WC_SUCCESS) std::abort();
    }
    return got;
  }

 private:
  sim::Host& host_;
  std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(kBufferBytes);
  verbs::Context context_;
  verbs::ProtectionDomain pd_;
  verbs::CompletionQueue cq_;
  verbs::MemoryRegion memory_;
  verbs::QueuePair qp_;
};

/// Takes what comes and posts as many receives, until the world ends.
void serve(End& end, const bool& ended) {
  while (!ended) {
    const std::size_t got = end.take();
    for (std::size_t i = 0; i < got; ++i) end.post_receive();
  }
}

/// Keeps `window` requests under way while the benchmark wants more.
void request(benchmark::State& state, End& from, const End& to, ibv_wr_opcode opcode,
             std::uint32_t window) {
  const auto length = static_cast<std::uint32_t>(state.range(0));
  std::uint32_t under_way = 0;
  for ([[maybe_unused]] auto _ : state) {
    while (under_way == window) under_way -= static_cast<std::uint32_t>(from.take());
    from.post(to, opcode, length);
    ++under_way;
  }
  while (under_way != 0) under_way -= static_cast<std::uint32_t>(from.take());
}

void sim_transfer(benchmark::State& state, ibv_wr_opcode opcode, std::uint32_t window,
                  const sim::WorldOptions& options = {.tracing = sim::Tracing::kOff}) {
  sim::World world(1, options);
  sim::Host& a = world.add_host("a", {"10.0.0.1"});
  sim::Host& b = world.add_host("b", {"10.0.0.2"});
  {
    End from(a);
    End to(b);
    from.connect(to);
    to.connect(from);
    bool ended = false;
    const bool two_sided = opcode == IBV_WR_SEND;
    if (two_sided) {
      for (std::uint32_t i = 0; i < kWindow; ++i) to.post_receive();
      b.spawn("serve", [&] { serve(to, ended); });
    }
    a.spawn("request", [&] {
      request(state, from, to, opcode, window);
      ended = true;
    });
    if (!world.run()) state.SkipWithError("the world got stuck");
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK_CAPTURE(sim_transfer, send, IBV_WR_SEND, kWindow)->Arg(64);
BENCHMARK_CAPTURE(sim_transfer, write, IBV_WR_RDMA_WRITE, kWindow)->Arg(64);
BENCHMARK_CAPTURE(sim_transfer, write_traced, IBV_WR_RDMA_WRITE, kWindow,
                  {.tracing = sim::Tracing::kHash})
    ->Arg(64);
BENCHMARK_CAPTURE(sim_transfer, write_judged, IBV_WR_RDMA_WRITE, kWindow,
                  {.tracing = sim::Tracing::kOff, .ownership = sim::Ownership::kOn})
    ->Arg(64)
    ->Arg(4096)
    ->Arg(65536);
BENCHMARK_CAPTURE(sim_transfer, write_alone, IBV_WR_RDMA_WRITE, 1)->Arg(64);
BENCHMARK_CAPTURE(sim_transfer, write_large, IBV_WR_RDMA_WRITE, 4)->Arg(4096)->Arg(65536);
BENCHMARK_CAPTURE(sim_transfer, read_large, IBV_WR_RDMA_READ, 4)->Arg(65536);

void plain_memcpy(benchmark::State& state) {
  const auto length = static_cast<std::size_t>(state.range(0));
  std::vector<std::uint8_t> from(length, 1), to(length);
  for ([[maybe_unused]] auto _ : state) {
    std::memcpy(to.data(), from.data(), length);
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK(plain_memcpy)->Arg(65536);

}  // namespace
