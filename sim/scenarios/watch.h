// Checkers for explored runs, without GoogleTest.
#pragma once

namespace anyrdma::sim::scenarios {

/// From now on every world is watched: an id whose events no kernel gives so, or that has been left
/// behind, is a problem of the run under exploration. The trace is the same with and without.
void watch();

}  // namespace anyrdma::sim::scenarios
