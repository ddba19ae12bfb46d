// Settings of simulated tests. Each can be given by an option on the command line or by an
// environment variable; the option has priority:
//
//   --anyrdma_seed=7      ANYRDMA_SEED=7       the seed of every world; default: 1
//   --anyrdma_runs=100    ANYRDMA_RUNS=100     runs each test 100 times, with 100 seeds; default: 1
//   --anyrdma_record=DIR  ANYRDMA_RECORD=DIR   records each test's worlds (recordings.h) to DIR
//
// The settings work with any main(), including that of gtest_main. A test fails if its seed or its
// number of runs is not a number.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace anyrdma::sim::testing {

struct Settings {
  std::uint64_t seed = 1;
  int runs = 1;
  std::string record{};   ///< a directory; empty: only failing tests are recorded
  std::string problem{};  ///< why a value is invalid, in a sentence; empty: valid

  bool operator==(const Settings&) const = default;
};

/// Parses the command line `words`, and the values of the environment variables; null: unset.
[[nodiscard]] Settings read_settings(std::span<const std::string> words, const char* seed,
                                     const char* runs, const char* record = nullptr);

/// Returns the settings of this process, with the seed of the current repetition (see `runs`). Call
/// this function while a test program runs.
[[nodiscard]] Settings current_settings();

/// Returns a shell command that repeats the running test with the given seed. Empty: no test runs.
[[nodiscard]] std::string command_to_repeat(std::uint64_t seed);

}  // namespace anyrdma::sim::testing
