// Many connections at once in one process: how fast they come, talk and go, and what one costs in
// memory, both sides together.
#include <benchmark/benchmark.h>
#include <malloc.h>

#include <cstdio>
#include <cstring>

#include "sim/testing/crowd.h"

namespace {

using namespace anyrdma::sim::testing;

/// Bytes that malloc has given out.
double allocated() {
  const struct mallinfo2 info = mallinfo2();
  return static_cast<double>(info.uordblks + info.hblkhd);
}

/// Resident bytes of the process; 0 when the system does not say.
double resident() {
  std::FILE* status = std::fopen("/proc/self/status", "r");
  if (status == nullptr) return 0;
  char line[256];
  unsigned long kibibytes = 0;
  while (std::fgets(line, sizeof line, status) != nullptr) {
    if (std::strncmp(line, "VmRSS:", 6) == 0) (void)std::sscanf(line + 6, "%lu", &kibibytes);
  }
  std::fclose(status);
  return static_cast<double>(kibibytes) * 1024;
}

void crowd(benchmark::State& state) {
  const auto connections = static_cast<std::uint32_t>(state.range(0));
  const CrowdPlan plan{.connections = connections, .ports = 4};
  double bytes = 0;
  double pages = 0;
  for ([[maybe_unused]] auto _ : state) {
    const double bytes_before = allocated();
    const double pages_before = resident();
    const CrowdResult result = run_crowd(plan, [&] {
      bytes = allocated() - bytes_before;
      pages = resident() - pages_before;
    });
    if (!result.at_rest || result.down != connections) state.SkipWithError("not all came and went");
  }
  state.counters["connections"] =
      benchmark::Counter(static_cast<double>(connections) * static_cast<double>(state.iterations()),
                         benchmark::Counter::kIsRate);
  state.counters["bytes_each"] = bytes / connections;
  state.counters["resident_each"] = pages / connections;
}
BENCHMARK(crowd)->Arg(1'000)->Arg(100'000)->Iterations(1)->Unit(benchmark::kMillisecond);

}  // namespace
