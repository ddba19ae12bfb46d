// Settings of simulated tests, from the command line or the environment; the command line wins:
//
//   --anyrdma_seed=7      ANYRDMA_SEED=7       the seed of every world (1)
//   --anyrdma_runs=100    ANYRDMA_RUNS=100     all tests that often, each time with the next seed
//   (1)
//   --anyrdma_record=DIR  ANYRDMA_RECORD=DIR   what each world shows, there: recordings.h (nowhere)
//
// They work with any main(), gtest_main's too. A value that is no number fails the tests that read
// it.
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

/// The settings of this process; the seed is that of the current run. Call it while a test program
/// runs.
[[nodiscard]] Settings current_settings();

/// A shell command that repeats the running test with that seed. Empty: no test runs.
[[nodiscard]] std::string command_to_repeat(std::uint64_t seed);

}  // namespace anyrdma::sim::testing
