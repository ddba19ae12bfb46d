// Records simulated tests that fail (docs/recording.md). Linking this is enough. Each world without
// a recording of its own keeps one in memory. When its test fails, the recording becomes a file
// with a page beside it, in Bazel's directory for test outputs or the temporary directory, and the
// test prints both names. Worlds of explorations and worlds without a trace are not recorded.
//
//   --anyrdma_record=DIR    ANYRDMA_RECORD=DIR     every test's, there, whatever comes of it
#pragma once

namespace anyrdma::sim::testing {

/// Does nothing. A call makes the linker include this code from the static library.
void require_recordings();

}  // namespace anyrdma::sim::testing
