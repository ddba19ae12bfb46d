#include "verbs/assert.h"

#include <cstdio>
#include <cstdlib>

namespace anyrdma::verbs {

void assertion_failed(const char* condition, const char* file, int line) {
  std::fprintf(stderr, "anyrdma: broken invariant: %s (%s:%d)\n", condition, file, line);
  std::abort();
}

}  // namespace anyrdma::verbs
