// Recordings of whatever simulated test fails (docs/recording.md). Linking this is enough: each
// world that was given no recording of its own keeps one in memory, and when its test fails, that
// becomes a file with a page beside it, and the test says where they are: where Bazel keeps what
// tests leave, else among temporary files. Worlds under exploration are left out, as explore says
// how to have its failures again, and so are those without a trace.
//
//   --anyrdma_record=DIR    ANYRDMA_RECORD=DIR     every test's, there, whatever comes of it
#pragma once

namespace anyrdma::sim::testing {

/// Says that the caller counts on them, so that a linker takes them out of an archive.
void require_recordings();

}  // namespace anyrdma::sim::testing
