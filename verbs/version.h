// The version of anyrdma.
#pragma once

namespace anyrdma::verbs {

/// The version of anyrdma as MAJOR.MINOR.PATCH, as in CHANGELOG.md. While MAJOR is 0, MINOR changes
/// when a new version breaks programs that use these headers, or files that the command has
/// written. File names and symbol versions of the drop-in libraries are those of rdma-core,
/// whatever the version is.
inline constexpr const char* kVersion = "0.1.0";

}  // namespace anyrdma::verbs
