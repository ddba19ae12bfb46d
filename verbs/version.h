// The version of anyrdma.
#pragma once

namespace anyrdma::verbs {

/// MAJOR.MINOR.PATCH, as CHANGELOG.md counts: while MAJOR is 0, MINOR changes with whatever breaks
/// a program that was written against these headers, or a file that was written by the command. The
/// drop-in libraries' names and symbol versions are rdma-core's, whatever this says.
inline constexpr const char* kVersion = "0.1.0";

}  // namespace anyrdma::verbs
