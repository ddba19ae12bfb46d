// Settings of simulated tests. Each can be given by an option on the command line or by an
// environment variable; the option has priority:
//
//   --anyrdma_seed=7      ANYRDMA_SEED=7       the seed of every world; default: 1
//   --anyrdma_runs=100    ANYRDMA_RUNS=100     runs each test 100 times, with 100 seeds; default: 1
//   --anyrdma_record=DIR  ANYRDMA_RECORD=DIR   records each world (recordings.h) to files in DIR
//
// The settings work with any main(), including that of gtest_main. A seed or number of runs that is
// not a number fails the tests that use it.
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

/// Parses `words` (a command line) and the variables; null: unset.
[[nodiscard]] Settings read_settings(std::span<const std::string> words, const char* seed,
                                     const char* runs, const char* record = nullptr);

/// Returns the settings of this process, with the seed of the current repetition (`runs`). Call it
/// while a test program runs.
[[nodiscard]] Settings current_settings();

/// A shell command that repeats the running test with that seed. Empty: no test runs.
[[nodiscard]] std::string command_to_repeat(std::uint64_t seed);

}  // namespace anyrdma::sim::testing
