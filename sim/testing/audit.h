// Checkers for every world of a test that links this: nothing has to be called. A test fails when a
// planned fault did not happen that is not marked as `maybe`, and when a checker's claim does not
// hold: docs/checkers.md has them all.
#pragma once

namespace anyrdma::sim::testing {

/// Says that the caller counts on the checkers, so that a linker takes them out of an archive.
void require_audit();

/// For tests of what cannot be legal: no checkers for the worlds that are made while it lives.
class Unaudited {
 public:
  Unaudited();
  ~Unaudited();
  Unaudited(const Unaudited&) = delete;
  Unaudited& operator=(const Unaudited&) = delete;
};

}  // namespace anyrdma::sim::testing
