// Checkers for every world of a test that links this: nothing has to be called. A test fails when
//   - a planned fault did not happen that is not marked as `maybe`;
//   - an id had events that no kernel gives it (sim/legality.h), or any after it was destroyed;
//   - an id's events were fetched in another order than they were queued in;
//   - nothing can happen any more, and a call that is answered by an event was not;
//   - the world ends, and an id was not destroyed.
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
