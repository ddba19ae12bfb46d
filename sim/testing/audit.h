// Installs the checkers (docs/checkers.md) in every world of a test. A test that links this library
// needs no call. The test fails if a checker finds a violation, or if an injected fault that is not
// marked `maybe` did not occur.
#pragma once

namespace anyrdma::sim::testing {

/// Does nothing. A call makes the linker include the checkers from the static library.
void require_audit();

/// Switches the checkers off for all worlds that are created while an object of this class exists.
/// For tests that break the rules on purpose.
class Unaudited {
 public:
  Unaudited();
  ~Unaudited();
  Unaudited(const Unaudited&) = delete;
  Unaudited& operator=(const Unaudited&) = delete;
};

}  // namespace anyrdma::sim::testing
