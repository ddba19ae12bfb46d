// The software HCA: what a queue pair's life, a small SEND and a long WRITE cost, beside memcpy in
// the same run. Packets go straight from one device to the other.
#include <benchmark/benchmark.h>
#include <infiniband/verbs.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "verbs/soft/hca.h"
#include "verbs/soft/testing/fake_runtime.h"

namespace {

using namespace anyrdma::verbs;
using namespace anyrdma::verbs::soft;

ibv_gid address(std::uint8_t last) {
  ibv_gid gid{};
  gid.raw[10] = gid.raw[11] = 0xff;
  gid.raw[12] = 10;
  gid.raw[15] = last;
  return gid;
}

struct End {
  End(testing::FakeRuntime& runtime, testing::FakeRandom& random, PacketPool& pool,
      std::uint8_t number)
      : gid(address(number)), memory(1 << 20) {
    hca = Hca::create(runtime, random, pool, {});
    hca->set_gid(0, gid);
    context = hca->open_device(hca->device()).value();
    pd = hca->alloc_pd(context).value();
    cq = hca->create_cq(context, 1024, nullptr, nullptr, 0).value();
    const auto start = reinterpret_cast<std::uintptr_t>(memory.data());
    constexpr unsigned kAll =
        IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    mr = hca->reg_mr(pd, memory.data(), memory.size(), start, kAll).value();
    qp = create();
  }

  ibv_qp* create() {
    ibv_qp_init_attr init{};
    init.send_cq = init.recv_cq = cq;
    init.qp_type = IBV_QPT_RC;
    init.cap = {64, 64, 1, 1, 0};
    return hca->create_qp(pd, &init).value();
  }

  void modify(ibv_qp_state state, int mask, ibv_qp_attr attr) {
    attr.qp_state = state;
    if (!hca->modify_qp(qp, &attr, mask | IBV_QP_STATE)) std::abort();
  }

  void connect(const End& peer) {
    ibv_qp_attr attr{};
    attr.port_num = 1;
    attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;
    modify(IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, attr);
    attr.path_mtu = IBV_MTU_4096;
    attr.dest_qp_num = peer.qp->qp_num;
    attr.max_dest_rd_atomic = attr.max_rd_atomic = 16;
    attr.ah_attr.is_global = 1;
    attr.ah_attr.grh.dgid = peer.gid;
    modify(IBV_QPS_RTR,
           IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
               IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
           attr);
    attr.timeout = 14;
    attr.retry_cnt = attr.rnr_retry = 7;
    modify(IBV_QPS_RTS,
           IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
               IBV_QP_MAX_QP_RD_ATOMIC,
           attr);
  }

  ibv_gid gid;
  std::vector<std::uint8_t> memory;
  std::unique_ptr<Hca> hca;
  ibv_context* context = nullptr;
  ibv_pd* pd = nullptr;
  ibv_cq* cq = nullptr;
  ibv_mr* mr = nullptr;
  ibv_qp* qp = nullptr;
};

struct Wire {
  testing::FakeRuntime runtime;
  testing::FakeRandom random;
  PacketPool pool;
  End a{runtime, random, pool, 1};
  End b{runtime, random, pool, 2};

  Wire() {
    a.connect(b);
    b.connect(a);
  }

  void carry() {
    for (bool more = true; more;) {
      more = false;
      while (PacketPtr packet = a.hca->next_packet()) {
        b.hca->on_packet(runtime.time, std::move(packet));
        more = true;
      }
      while (PacketPtr packet = b.hca->next_packet()) {
        a.hca->on_packet(runtime.time, std::move(packet));
        more = true;
      }
    }
  }
};

void post(End& from, const End& to, ibv_wr_opcode opcode, std::uint32_t length) {
  ibv_sge sge{reinterpret_cast<std::uintptr_t>(from.memory.data()), length, from.mr->lkey};
  ibv_send_wr request{};
  request.sg_list = &sge;
  request.num_sge = 1;
  request.opcode = opcode;
  request.send_flags = IBV_SEND_SIGNALED;
  request.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(to.memory.data());
  request.wr.rdma.rkey = to.mr->rkey;
  ibv_send_wr* bad = nullptr;
  if (ibv_post_send(from.qp, &request, &bad) != 0) std::abort();
}

void take(End& end) {
  ibv_wc wc{};
  if (ibv_poll_cq(end.cq, 1, &wc) != 1 || wc.status != IBV_WC_SUCCESS) std::abort();
}

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
