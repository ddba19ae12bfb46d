// How much longer runs take when they are recorded and judged: a pair of rping processes on
// simulated hosts, and whole lives of connections between fibers. Prints, for each way to watch a
// run, its processor time and its elapsed time over those of the same run that is not watched.
//
// Usage: overhead_bench [ROUNDS]. A round runs each way once, in an order that changes from round
// to round, and gives one ratio for each way. Printed are the median and both quartiles.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/check/checkers.h"
#include "sim/monitor.h"
#include "sim/world.h"
#include "tests/bench/connection_lives.h"
#include "tests/bench/forgetful_sink.h"
#include "tests/bench/rping_pair.h"

namespace {

using namespace anyrdma;

constexpr std::size_t kLives = 50'000;
constexpr std::size_t kPingPongs = 1'000;

struct Way {
  const char* name;
  bool recorded;
  bool claims;
  bool buffers;
};
constexpr std::array<Way, 5> kWays{{{"not watched", false, false, false},
                                    {"recorded", true, false, false},
                                    {"claims", false, true, false},
                                    {"buffers, keys, queues", false, false, true},
                                    {"all together", true, true, true}}};

/// A world's options for a way. Of the whole process: monitors of later worlds.
sim::WorldOptions options_of(const Way& way) {
  sim::WorldOptions options{.tracing = sim::Tracing::kHash};
  if (way.recorded) options.recording = std::make_shared<bench::ForgetfulSink>();
  if (way.buffers) options.ownership = sim::Ownership::kOn;
  sim::Monitor::install(nullptr);
  if (way.claims) {
    sim::Monitor::install(+[]() -> std::unique_ptr<sim::Monitor> {
      return std::make_unique<sim::check::Checkers>();
    });
  }
  return options;
}

struct Cost {
  double processor;  ///< seconds
  double elapsed;    ///< seconds
};

Cost cost_of(const std::function<bool()>& run) {
  const double before = bench::processor_seconds();
  const auto start = std::chrono::steady_clock::now();
  if (!run()) {
    std::fprintf(stderr, "overhead_bench: a run did not end as it should\n");
    std::exit(1);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  return {bench::processor_seconds() - before, elapsed.count()};
}

struct Quartiles {
  double lower, median, upper;
};

Quartiles quartiles_of(std::vector<double> ratios) {
  std::ranges::sort(ratios);
  const auto at = [&](std::size_t quarter) { return ratios[(ratios.size() - 1) * quarter / 4]; };
  return {at(1), at(2), at(3)};
}

void compare(const char* what, std::size_t rounds,
             const std::function<bool(const sim::WorldOptions&)>& run) {
  std::array<std::vector<double>, kWays.size()> processor, elapsed;
  for (std::size_t round = 0; round < rounds; ++round) {
    std::array<Cost, kWays.size()> costs{};
    for (std::size_t i = 0; i < kWays.size(); ++i) {
      const std::size_t way = (i + round) % kWays.size();
      const sim::WorldOptions options = options_of(kWays[way]);
      costs[way] = cost_of([&] { return run(options); });
    }
    for (std::size_t way = 0; way < kWays.size(); ++way) {
      processor[way].push_back(costs[way].processor / costs[0].processor);
      elapsed[way].push_back(costs[way].elapsed / costs[0].elapsed);
    }
    if (round == 0)
      std::printf("%s: %.3f s of processor time, not watched\n", what, costs[0].processor);
  }
  for (std::size_t way = 1; way < kWays.size(); ++way) {
    const Quartiles cpu = quartiles_of(processor[way]);
    const Quartiles wall = quartiles_of(elapsed[way]);
    std::printf("  %-22s processor %.2f (%.2f to %.2f), elapsed %.2f (%.2f to %.2f)\n",
                kWays[way].name, cpu.median, cpu.lower, cpu.upper, wall.median, wall.lower,
                wall.upper);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
  const std::size_t rounds = count > 1 ? std::strtoul(words[1], nullptr, 10) : 5;
  if (rounds == 0) {
    std::fprintf(stderr, "usage: overhead_bench [ROUNDS]\n");
    return 2;
  }
  compare("50,000 lives of connections between fibers", rounds,
          [](const sim::WorldOptions& options) {
            return bench::live_in_world(options, [](sim::World&, auto&& live) {
              for (std::size_t i = 0; i < kLives; ++i) live();
            });
          });
  std::string problem;
  bench::RpingPair pair(problem);
  if (!problem.empty()) {
    std::fprintf(stderr, "overhead_bench: %s\n", problem.c_str());
    return 1;
  }
  compare("1,000 ping-pongs of two rping processes", rounds,
          [&pair](const sim::WorldOptions& options) { return pair.run(options, kPingPongs); });
  return 0;
}
