// The software HCA: what a queue pair's life, a small SEND and a long WRITE cost, beside memcpy in
// the same run. Packets go straight from one device to the other.
#include <benchmark/benchmark.h>
#include <infiniband/verbs.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "tests/bench/hca_pair.h"

namespace {

using namespace anyrdma::bench;

void hca_small_send(benchmark::State& state) {
  Wire wire;
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(wire.b.memory.data()), 64, wire.b.mr->lkey};
  ibv_recv_wr request{};
  request.sg_list = &sge;
  request.num_sge = 1;
  ibv_recv_wr* bad = nullptr;
  for ([[maybe_unused]] auto _ : state) {
    if (ibv_post_recv(wire.b.qp, &request, &bad) != 0) std::abort();
    post(wire.a, wire.b, IBV_WR_SEND, 64);
    wire.carry();
    take(wire.a);
    take(wire.b);
  }
}
BENCHMARK(hca_small_send);

void hca_transfer(benchmark::State& state, ibv_wr_opcode opcode) {
  Wire wire;
  const auto length = static_cast<std::uint32_t>(state.range(0));
  for ([[maybe_unused]] auto _ : state) {
    post(wire.a, wire.b, opcode, length);
    wire.carry();
    take(wire.a);
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}
BENCHMARK_CAPTURE(hca_transfer, write, IBV_WR_RDMA_WRITE)->Arg(64)->Arg(4096)->Arg(65536);
BENCHMARK_CAPTURE(hca_transfer, read, IBV_WR_RDMA_READ)->Arg(64)->Arg(65536);

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
BENCHMARK(plain_memcpy)->Arg(4096)->Arg(65536)->Arg(1 << 20);

void hca_qp_create_destroy(benchmark::State& state) {
  Wire wire;
  for ([[maybe_unused]] auto _ : state) {
    wire.a.hca->destroy_qp(wire.a.create()).value();
  }
}
BENCHMARK(hca_qp_create_destroy);

void hca_qp_life(benchmark::State& state) {
  Wire wire;
  for ([[maybe_unused]] auto _ : state) {
    ibv_qp* const old = std::exchange(wire.a.qp, wire.a.create());
    wire.a.hca->destroy_qp(old).value();
    wire.a.connect(wire.b);
  }
}
BENCHMARK(hca_qp_life);

void hca_region(benchmark::State& state) {
  Wire wire;
  End& a = wire.a;
  const auto start = reinterpret_cast<std::uintptr_t>(a.memory.data());
  for ([[maybe_unused]] auto _ : state) {
    ibv_mr* const mr = a.hca->reg_mr(a.pd, a.memory.data(), 4096, start, 0).value();
    a.hca->dereg_mr(mr).value();
  }
}
BENCHMARK(hca_region);

void hca_completion_queue(benchmark::State& state) {
  Wire wire;
  End& a = wire.a;
  for ([[maybe_unused]] auto _ : state) {
    ibv_cq* const cq = a.hca->create_cq(a.context, 16, nullptr, nullptr, 0).value();
    a.hca->destroy_cq(cq).value();
  }
}
BENCHMARK(hca_completion_queue);

}  // namespace
