// Records simulated tests that fail (docs/recording.md). A test that links this library needs no
// call. Each world without a recording of its own keeps one in memory. If its test fails, the
// recording is written to a file with an HTML page beside it, and the test prints both names. The
// files are in Bazel's directory for test outputs, else in the temporary directory. Worlds of
// explorations and worlds without a trace are not recorded.
//
//   --anyrdma_record=DIR    ANYRDMA_RECORD=DIR     records all tests, also those that pass, to DIR
#pragma once

namespace anyrdma::sim::testing {

/// Does nothing. A call makes the linker include the code for recordings from the static library.
void require_recordings();

}  // namespace anyrdma::sim::testing
