// Prints docs/ibcm-states.md.
#include <cstdio>

#include "transport/ibcm/testing/cells.h"

int main() {
  std::fputs(anyrdma::ibcm::testing::describe_all_cells().c_str(), stdout);
  return 0;
}
