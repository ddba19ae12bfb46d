// What whoever starts a test program says of its simulated tests, on the command line or in the
// environment; the command line wins:
//
//   --anyrdma_seed=7      ANYRDMA_SEED=7       the seed of every world (1)
//   --anyrdma_runs=100    ANYRDMA_RUNS=100     all tests that often, each time with the next seed
//   (1)
//   --anyrdma_record=DIR  ANYRDMA_RECORD=DIR   what each world shows, there: recordings.h (nowhere)
//
// Any main() will do, gtest_main's too. What is not a number fails the tests that ask.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace anyrdma::sim::testing {

struct Settings {
  std::uint64_t seed = 1;
  int runs = 1;
  std::string record{};   ///< a directory; empty: what fails is recorded, elsewhere
  std::string problem{};  ///< why it was not understood, in a sentence; empty: it was

  bool operator==(const Settings&) const = default;
};

/// What `words` (a command line) and the variables say; null: unset.
[[nodiscard]] Settings read_settings(std::span<const std::string> words, const char* seed,
                                     const char* runs, const char* record = nullptr);

/// What this process was started with; the seed is that of the run under way. While a test program
/// runs.
[[nodiscard]] Settings current_settings();

/// One line for a shell that does the running test again, with that seed. Empty: no test runs.
[[nodiscard]] std::string command_to_repeat(std::uint64_t seed);

}  // namespace anyrdma::sim::testing
