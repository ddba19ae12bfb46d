// The name of the running test, for commands that reproduce a failure. The simulator knows no test
// framework; code that does registers a function here.
#pragma once

#include <string>

namespace anyrdma::sim {

/// Returns "Suite.Name", as --gtest_filter accepts it. Empty: no test runs, or it is unknown.
[[nodiscard]] std::string running_test();

/// Sets the function that returns the name.
void name_running_tests(std::string (*name)());

/// The value of an environment variable with which Bazel or a user configures a test; null: unset
/// or empty.
[[nodiscard]] const char* variable_that_is_set(const char* name);

}  // namespace anyrdma::sim
