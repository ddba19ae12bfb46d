// Trials of unmodified programs on simulated hosts, as `anyrdma explore` has them one after the
// other. What counts is the processor's time, that of the programs included: a trial waits for
// nobody.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>

#include "sim/world.h"
#include "tests/bench/forgetful_sink.h"
#include "tests/bench/rping_pair.h"

namespace {

using namespace anyrdma;

constexpr std::size_t kPingPongs = 3;

/// Arguments: whether each run uses the namespaces of the one before, as in explore; whether it is
/// recorded.
void rping_pair(benchmark::State& state) {
  std::string problem;
  bench::RpingPair pair(problem);
  if (!problem.empty()) return state.SkipWithError(problem.c_str());
  const auto run = [&](bool reuse, bool recorded) {
    sim::WorldOptions options{.tracing = sim::Tracing::kHash};
    if (recorded) options.recording = std::make_shared<bench::ForgetfulSink>();
    return pair.run(options, kPingPongs, reuse);
  };
  (void)run(true, false);  // the first one makes the namespaces
  double seconds = 0;
  for (auto _ : state) {
    const double before = bench::processor_seconds();
    if (!run(state.range(0) != 0, state.range(1) != 0))
      return state.SkipWithError("a program did not end as it should");
    const double took = bench::processor_seconds() - before;
    state.SetIterationTime(took);
    seconds += took;
  }
  state.counters["trials_per_minute"] = static_cast<double>(state.iterations()) * 60 / seconds;
}
BENCHMARK(rping_pair)
    ->ArgNames({"premises", "recorded"})
    ->Args({1, 0})
    ->Args({1, 1})
    ->Args({0, 0})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
