// Explorations: seeded runs of a connection's life with faults, schedules and checkers, in one
// process. The goal is 10,000 a minute; minutes of virtual time are to cost milliseconds.
#include <benchmark/benchmark.h>

#include <chrono>

#include "sim/scenarios/scenarios.h"
#include "sim/scenarios/watch.h"

namespace {

using namespace anyrdma;
using namespace std::chrono_literals;
using sim::scenarios::Standard;

constexpr std::uint64_t kRunsAtOnce = 100;

/// Runs of one scenario, with what `anyrdma explore` does by default.
void explore(benchmark::State& state, const char* name) {
  sim::scenarios::watch();
  const Standard& standard = *sim::scenarios::find(name);
  sim::ExploreOptions options{
      .runs = kRunsAtOnce,
      .menu = sim::FaultPlan::parse(standard.menu).value().faults,
      .schedules = {{},
                    {.policy = sim::Policy::kRandom, .slack = 10us},
                    {.policy = sim::Policy::kPct, .changes = 3, .slack = 10us}}};
  for (auto _ : state) {
    const sim::Exploration found =
        sim::explore(options, [&](const sim::Trial& trial) { return standard.run(trial, {}); });
    if (found.failure) state.SkipWithError(found.failure->to_string().c_str());
    options.first_seed += kRunsAtOnce;
  }
  const auto runs = static_cast<double>(state.iterations()) * kRunsAtOnce;
  state.counters["runs_per_minute"] = benchmark::Counter(runs * 60, benchmark::Counter::kIsRate);
}
BENCHMARK_CAPTURE(explore, connect, "connect")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explore, clients, "clients")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explore, reconnect, "reconnect")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explore, datagram, "datagram")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(explore, multicast, "multicast")->Unit(benchmark::kMillisecond);

/// One run of minutes.
void wait_long(benchmark::State& state, const char* name, const char* trial) {
  const Standard& standard = *sim::scenarios::find(name);
  const sim::Trial parsed = sim::Trial::parse(trial).value();
  for (auto _ : state) {
    const sim::Outcome outcome = standard.run(parsed, {});
    if (!outcome.problem.empty()) state.SkipWithError(outcome.problem.c_str());
  }
}
BENCHMARK_CAPTURE(wait_long, four_minutes_until_the_path_is_back, "reconnect",
                  "set seconds 240; at 30us: cut client<->server")
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(wait_long, a_handshake_that_times_out_after_64_seconds, "connect",
                  "set seconds 240; on client->server REQ all: lose")
    ->Unit(benchmark::kMillisecond);

}  // namespace
