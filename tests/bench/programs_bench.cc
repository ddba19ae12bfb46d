// Trials of unmodified programs on simulated hosts, as `anyrdma explore` has them one after the
// other. What counts is the processor's time, that of the programs included: a trial waits for
// nobody.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "sim/machines/drop_in.h"
#include "sim/machines/executable.h"
#include "sim/machines/machines.h"
#include "sim/world.h"
#include "tests/bench/forgetful_sink.h"

namespace {

using namespace anyrdma;
using namespace std::chrono_literals;

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

/// Of this process, and of those that it has seen end.
double processor_seconds() {
  double seconds = 0;
  for (const int who : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(who, &usage);
    seconds += seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  }
  return seconds;
}

/// Those beside this program; empty: not there, which has been reported.
std::filesystem::path libraries(benchmark::State& state) {
  const std::string own = std::filesystem::read_symlink("/proc/self/exe");
  ::setenv("ANYRDMA_PREFIX", (own + ".runfiles/anyrdma/tools/bin").c_str(), 0);
  std::string problem;
  auto found = sim::find_drop_in(problem);
  if (found.empty()) state.SkipWithError(problem.c_str());
  return found;
}

/// A server and a client on two hosts. False: one did not end with 0.
bool run_pair(std::uint64_t seed, const std::filesystem::path& libraries, const std::string& path,
              sim::Premises* premises, bool recorded) {
  sim::WorldOptions options{.tracing = sim::Tracing::kHash};
  if (recorded) options.recording = std::make_shared<bench::ForgetfulSink>();
  sim::World world(seed, options);
  sim::Machines machines(world, {}, premises);
  const auto server = machines.add_host("server", {"10.0.0.1"});
  const auto client = machines.add_host("client", {"10.0.0.2"});
  if (!server || !client) return false;
  const auto start = [&](sim::Host& host, std::vector<std::string> words, sim::Duration when) {
    auto variables = sim::simulated_variables(libraries);
    for (const auto& [key, value] : machines.variables(host)) variables[key] = value;
    return machines.sandbox()
        .start(host, "rping",
               {.path = path,
                .arguments = std::move(words),
                .environment = sim::environment_with(variables),
                .start = when})
        .has_value();
  };
  if (!start(**server, {"rping", "-s", "-a", "10.0.0.1", "-C", "3"}, 0ms)) return false;
  if (!start(**client, {"rping", "-c", "-a", "server", "-C", "3"}, 10ms)) return false;
  (void)world.run_until([&] { return machines.sandbox().all_ended(); }, verbs::Instant{} + 1h);
  for (const auto& program : machines.sandbox().programs()) {
    if (program->status() != 0) return false;
  }
  return true;
}

/// Arguments: whether each run finds the premises of the one before, as in explore; whether it is
/// recorded.
void rping_pair(benchmark::State& state) {
  const auto path = sim::find_program("rping", "/usr/bin:/usr/local/bin");
  if (!path) return state.SkipWithError("there is no rping (Debian: rdmacm-utils)");
  const std::filesystem::path found = libraries(state);
  sim::Premises premises;
  std::uint64_t seed = 0;
  if (!found.empty())
    (void)run_pair(++seed, found, *path, &premises, false);  // the first one makes them
  double seconds = 0;
  for (auto _ : state) {
    const double before = processor_seconds();
    if (!run_pair(++seed, found, *path, state.range(0) != 0 ? &premises : nullptr,
                  state.range(1) != 0))
      return state.SkipWithError("a program did not end as it should");
    const double took = processor_seconds() - before;
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
