// What stands between an application and the device's driver when it posts and polls: the same call
// through the context's pointers, as a C program makes it, and through the RAII classes. The driver
// does nothing, so the difference is all ours; a context of the system's libibverbs is reached in
// the very same way.
#include <benchmark/benchmark.h>
#include <infiniband/verbs.h>

#include <cstdint>

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

struct Raw : Device {
  bool operate() {
    ibv_send_wr* bad = nullptr;
    return qp.context->ops.post_send(&qp, &request, &bad) == 0 &&
           cq.context->ops.poll_cq(&cq, 1, &completion) == 1;
  }
};

struct C : Device {
  bool operate() {
    ibv_send_wr* bad = nullptr;
    return ibv_post_send(&qp, &request, &bad) == 0 && ibv_poll_cq(&cq, 1, &completion) == 1;
  }
};

struct Raii : Device {
  ~Raii() {
    (void)pair.release();  // the driver cannot destroy
    (void)queue.release();
  }
  bool operate() {
    if (!pair.post_send(&request)) return false;
    const Result<std::size_t> got = queue.poll({&completion, 1});
    return got && *got == 1;
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

BENCHMARK(post_and_poll<Raw>);
BENCHMARK(post_and_poll<C>);
BENCHMARK(post_and_poll<Raii>);

}  // namespace
