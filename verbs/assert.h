// CM_ASSERT: a broken invariant of our own. On in every build; prints and aborts.
#pragma once

namespace anyrdma::verbs {

/// Prints the failed condition with its place to stderr and aborts. Never returns.
[[noreturn]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace anyrdma::verbs

// One condition per assert. Not for the caller's or the peer's mistakes: those have results.
#define CM_ASSERT(condition) \
  ((condition) ? (void)0 : ::anyrdma::verbs::assertion_failed(#condition, __FILE__, __LINE__))
