// Checkers for explored runs, without GoogleTest.
#pragma once

namespace anyrdma::sim::scenarios {

/// From now on every world is watched: a claim that does not hold (docs/checkers.md) is a problem
/// of the run under exploration. The trace is the same with and without.
void watch();

}  // namespace anyrdma::sim::scenarios
