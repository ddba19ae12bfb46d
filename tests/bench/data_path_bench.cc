// What stands between an application and the device's driver when it posts and polls: the same call
// through the context's pointers, as a C program makes it, and through the RAII classes. Once the
// driver does nothing, so the difference is all ours (a context of the system's libibverbs is
// reached in the very same way); once it is the software HCA, with the whole way of a 64-byte RDMA
// WRITE to another and of its acknowledgement in between. All ask for errors, as both calls' manual
// pages want it. The goal: RAII adds no instruction.
#include <benchmark/benchmark.h>
#include <infiniband/verbs.h>

#include <cstdint>
#include <cstdlib>

#include "tests/bench/hca_pair.h"
#include "tests/bench/instructions.h"
#include "verbs/completion_queue.h"
#include "verbs/queue_pair.h"

namespace {

using anyrdma::bench::instructions_of;
using namespace anyrdma::verbs;

constexpr int kOperations = 100;  // that are counted

[[gnu::noinline]] int post_nothing(ibv_qp*, ibv_send_wr*, ibv_send_wr**) {
  asm volatile("" ::: "memory");
  return 0;
}

[[gnu::noinline]] int poll_nothing(ibv_cq*, int, ibv_wc* completion) {
  completion->status = IBV_WC_SUCCESS;
  asm volatile("" ::: "memory");
  return 1;
}

/// A queue pair and a completion queue of the driver.
struct Device {
  Device() {
    context.ops.post_send = post_nothing;
    context.ops.poll_cq = poll_nothing;
    qp.context = &context;
    cq.context = &context;
  }
  ibv_context context{};
  ibv_qp qp{};
  ibv_cq cq{};
  ibv_send_wr request{};
  ibv_wc completion{};
};

/// A C program has pointers to what it uses.
struct Pointers : Device {
  ibv_qp* pair = &qp;
  ibv_cq* queue = &cq;
};

struct Raw : Pointers {
  bool operate() {
    ibv_send_wr* bad = nullptr;
    if (pair->context->ops.post_send(pair, &request, &bad) != 0) std::abort();
    const int got = queue->context->ops.poll_cq(queue, 1, &completion);
    if (got < 0) std::abort();
    return got == 1;
  }
};

struct C : Pointers {
  bool operate() {
    ibv_send_wr* bad = nullptr;
    if (ibv_post_send(pair, &request, &bad) != 0) std::abort();
    const int got = ibv_poll_cq(queue, 1, &completion);
    if (got < 0) std::abort();
    return got == 1;
  }
};

struct Raii : Device {
  ~Raii() {
    (void)pair.release();  // the driver cannot destroy
    (void)queue.release();
  }
  bool operate() {
    if (!pair.post_send(&request)) std::abort();
    const Result<std::size_t> got = queue.poll({&completion, 1});
    if (!got) std::abort();
    return *got == 1;
  }
  QueuePair pair{&qp};
  CompletionQueue queue{&cq};
};

template <class Way>
void post_and_poll(benchmark::State& state) {
  Way way;
  for (auto _ : state) benchmark::DoNotOptimize(way.operate());
  const auto counted = instructions_of([&] {
    for (int i = 0; i < kOperations; ++i) benchmark::DoNotOptimize(way.operate());
  });
  if (counted) {
    state.counters["instructions"] = static_cast<double>(*counted) / kOperations;
  }
}

/// The software HCA.
struct SoftDevice {
  SoftDevice() {
    request.sg_list = &piece;
    request.num_sge = 1;
    request.opcode = IBV_WR_RDMA_WRITE;
    request.send_flags = IBV_SEND_SIGNALED;
    request.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(wire.b.memory.data());
    request.wr.rdma.rkey = wire.b.mr->rkey;
  }
  anyrdma::bench::Wire wire;
  ibv_sge piece{reinterpret_cast<std::uintptr_t>(wire.a.memory.data()), 64, wire.a.mr->lkey};
  ibv_send_wr request{};
  ibv_wc completion{};
};

struct SoftRaw : SoftDevice {
  bool operate() {
    ibv_send_wr* bad = nullptr;
    ibv_qp* const qp = wire.a.qp;
    if (qp->context->ops.post_send(qp, &request, &bad) != 0) std::abort();
    wire.carry();
    ibv_cq* const cq = wire.a.cq;
    const int got = cq->context->ops.poll_cq(cq, 1, &completion);
    if (got < 0) std::abort();
    return got == 1;
  }
};

struct SoftC : SoftDevice {
  bool operate() {
    ibv_send_wr* bad = nullptr;
    if (ibv_post_send(wire.a.qp, &request, &bad) != 0) std::abort();
    wire.carry();
    const int got = ibv_poll_cq(wire.a.cq, 1, &completion);
    if (got < 0) std::abort();
    return got == 1;
  }
};

struct SoftRaii : SoftDevice {
  ~SoftRaii() {
    (void)pair.release();  // the device's end is theirs
    (void)queue.release();
  }
  bool operate() {
    if (!pair.post_send(&request)) std::abort();
    wire.carry();
    const Result<std::size_t> got = queue.poll({&completion, 1});
    if (!got) std::abort();
    return *got == 1;
  }
  QueuePair pair{wire.a.qp};
  CompletionQueue queue{wire.a.cq};
};

BENCHMARK(post_and_poll<Raw>);
BENCHMARK(post_and_poll<C>);
BENCHMARK(post_and_poll<Raii>);
BENCHMARK(post_and_poll<SoftRaw>);
BENCHMARK(post_and_poll<SoftC>);
BENCHMARK(post_and_poll<SoftRaii>);

}  // namespace
