// Whole lives of connections in the simulator: create, resolve, connect, accept, SEND, disconnect,
// destroy, both sides counted as one life. The goal is 1,000,000 per second and core.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <memory>

#include "sim/world.h"
#include "tests/bench/connection_lives.h"
#include "tests/bench/forgetful_sink.h"

namespace {

using namespace anyrdma;

void lifecycle(benchmark::State& state, const sim::WorldOptions& options) {
  std::uint64_t events = 0;
  const bool done = bench::live_in_world(options, [&](sim::World& world, auto&& live) {
    const std::uint64_t before = world.scheduler().events();
    for ([[maybe_unused]] auto _ : state) live();
    events = world.scheduler().events() - before;
  });
  if (!done) state.SkipWithError("the world got stuck");
  using Counter = benchmark::Counter;
  state.counters["lives"] = Counter(static_cast<double>(state.iterations()), Counter::kIsRate);
  state.counters["events"] = Counter(static_cast<double>(events), Counter::kIsRate);
}
BENCHMARK_CAPTURE(lifecycle, no_trace, {.tracing = sim::Tracing::kOff});
BENCHMARK_CAPTURE(lifecycle, trace_hash, {.tracing = sim::Tracing::kHash});
BENCHMARK_CAPTURE(lifecycle, buffers_judged,
                  {.tracing = sim::Tracing::kOff, .ownership = sim::Ownership::kOn});

void recorded(benchmark::State& state, sim::Tracing tracing) {
  sim::WorldOptions options{.tracing = tracing};
  options.recording = std::make_shared<bench::ForgetfulSink>();
  lifecycle(state, options);
}
BENCHMARK_CAPTURE(recorded, no_trace, sim::Tracing::kOff);
BENCHMARK_CAPTURE(recorded, trace_hash, sim::Tracing::kHash);

}  // namespace
