// What a Result would look like to a C caller, for tests.
#pragma once

#include "verbs/result.h"

namespace anyrdma::verbs::testing {

/// 0 for success, else the errno value: EXPECT_EQ(errno_of(id->bind(nullptr)), EINVAL).
template <class T>
[[nodiscard]] int errno_of(const Result<T>& result) {
  return result.has_value() ? 0 : result.error().value();
}

}  // namespace anyrdma::verbs::testing
