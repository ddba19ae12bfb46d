// The name of the background thread.
#pragma once

namespace anyrdma::transport::realtime {

/// The thread's name for prctl(2) PR_SET_NAME, by which tools show it.
inline constexpr const char* kProgressThreadName = "anyrdma";

}  // namespace anyrdma::transport::realtime
