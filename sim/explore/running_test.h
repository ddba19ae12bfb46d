// The test that runs, for whoever says how something is done again. The simulator knows no test
// framework: who does, says so here.
#pragma once

#include <string>

namespace anyrdma::sim {

/// "Suite.Name", as --gtest_filter takes it. Empty: none runs, or nobody knows.
[[nodiscard]] std::string running_test();

/// Who is asked from now on.
void name_running_tests(std::string (*name)());

/// What the environment says, where Bazel or a user tells a test something; null: unset or empty.
[[nodiscard]] const char* variable_that_is_set(const char* name);

}  // namespace anyrdma::sim
