// The name of the background thread that a real-time transport starts.
#pragma once

namespace anyrdma::transport::realtime {

/// The name of the background thread for prctl(2) PR_SET_NAME, which tools such as ps and gdb show.
inline constexpr const char* kProgressThreadName = "anyrdma";

}  // namespace anyrdma::transport::realtime
