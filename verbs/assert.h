// Defines CM_ASSERT, which checks an invariant of this library in every build. A failed assertion
// prints its place and aborts.
#pragma once

namespace anyrdma::verbs {

/// Prints the failed condition with its place to stderr and aborts. Never returns.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace anyrdma::verbs

// Aborts the process if `condition` is false. Use one condition for each assertion. Report mistakes
// of the caller or of the peer as results, not with this macro.
#define CM_ASSERT(condition) \
  ((condition) ? (void)0 : ::anyrdma::verbs::assertion_failed(#condition, __FILE__, __LINE__))
