// What must hold for a performance to mean anything.
#pragma once

#include <cstdio>
#include <cstdlib>

namespace anyrdma::conformance {

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "a scenario cannot be performed: %s\n", what);
  std::abort();
}

}  // namespace anyrdma::conformance
