// Checkers for explored runs, without GoogleTest.
#pragma once

namespace anyrdma::sim::scenarios {

/// Installs the checkers in every world created from now on: a violation (docs/checkers.md) becomes
/// a problem of the current run of an exploration. The trace of a run does not change.
void watch();

}  // namespace anyrdma::sim::scenarios
