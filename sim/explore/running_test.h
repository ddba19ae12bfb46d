// The name of the running test, for commands that reproduce a failure. The simulator depends on no
// test framework, so the code that knows the framework registers a function that returns the name.
#pragma once

#include <string>

namespace anyrdma::sim {

/// Returns "Suite.Name", as --gtest_filter accepts it. Empty: no test runs, or it is unknown.
[[nodiscard]] std::string running_test();

/// Sets the function that returns the name.
void name_running_tests(std::string (*name)());

/// Returns the value of an environment variable with which Bazel or a user configures a test. Null:
/// the variable is unset or empty.
[[nodiscard]] const char* variable_that_is_set(const char* name);

}  // namespace anyrdma::sim
