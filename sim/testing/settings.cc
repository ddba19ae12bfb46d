#include "sim/testing/settings.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

#include "base/number.h"
#include "sim/explore/running_test.h"

namespace anyrdma::sim::testing {
namespace {

/// One setting by its two names.
struct Said {
  std::string name;   ///< as it was given
  std::string value;  ///< empty: not given
};

Said said(std::span<const std::string> words, const std::string& flag, const char* variable,
          const char* value) {
  for (const std::string& word : words) {
    if (word.starts_with(flag + "=")) return {flag, word.substr(flag.size() + 1)};
    if (word == flag) return {flag, "nothing"};
  }
  return {variable, value == nullptr ? "" : value};
}

const std::vector<std::string>& command_line() {
  static const std::vector<std::string> words = [] {
    std::ifstream file("/proc/self/cmdline", std::ios::binary);
    std::vector<std::string> read;
    for (std::string word; std::getline(file, word, '\0');) read.push_back(word);
    return read;
  }();
  return words;
}

const Settings& at_start() {
  static const Settings settings =
      read_settings(command_line(), std::getenv("ANYRDMA_SEED"), std::getenv("ANYRDMA_RUNS"),
                    std::getenv("ANYRDMA_RECORD"));
  return settings;
}

int run_under_way = 0;

/// Has GoogleTest repeat everything, and counts.
class Runs final : public ::testing::EmptyTestEventListener {
  void OnTestProgramStart(const ::testing::UnitTest&) override {
    if (at_start().runs != 1) GTEST_FLAG_SET(repeat, at_start().runs);
  }
  void OnTestIterationStart(const ::testing::UnitTest&, int iteration) override {
    run_under_way = iteration;
  }
};

[[maybe_unused]] const bool kListening = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(new Runs);  // which owns it
  return true;
}();

}  // namespace

Settings read_settings(std::span<const std::string> words, const char* seed, const char* runs,
                       const char* record) {
  Settings settings;
  const auto refuse = [&settings](const Said& wrong, const char* expected) {
    settings.problem = wrong.name + " is " + wrong.value + ": it should be " + expected + ".";
  };
  if (const Said it = said(words, "--anyrdma_seed", "ANYRDMA_SEED", seed); !it.value.empty()) {
    const auto number = whole_number<std::uint64_t>(it.value);
    if (!number) refuse(it, "a number from 0 to 2^64 - 1");
    settings.seed = number.value_or(settings.seed);
  }
  if (const Said it = said(words, "--anyrdma_runs", "ANYRDMA_RUNS", runs); !it.value.empty()) {
    const auto number = whole_number<int>(it.value);
    if (!number || *number < 1) refuse(it, "a number from 1 to 2^31 - 1");
    settings.runs = number.value_or(0) < 1 ? 1 : *number;
  }
  if (const Said it = said(words, "--anyrdma_record", "ANYRDMA_RECORD", record); !it.value.empty())
    settings.record = it.value;
  return settings;
}

Settings current_settings() {
  Settings settings = at_start();
  settings.seed += static_cast<std::uint64_t>(run_under_way);
  return settings;
}

std::string command_to_repeat(std::uint64_t seed) {
  const std::string name = running_test();
  if (name.empty()) return {};
  const std::string number = std::to_string(seed);
  if (const char* target = std::getenv("TEST_TARGET"); target != nullptr) {  // Bazel's
    return "bazel test " + std::string(target) + " --test_filter='" + name +
           "' --test_env=ANYRDMA_SEED=" + number;
  }
  const std::vector<std::string>& words = command_line();
  const std::string program = words.empty() ? "PROGRAM" : words.front();
  return program + " --gtest_filter='" + name + "' --anyrdma_seed=" + number;
}

}  // namespace anyrdma::sim::testing
