// How the system calls the thread that works while the application sleeps.
#pragma once

namespace anyrdma::transport::realtime {

/// As prctl(2) has it, PR_SET_NAME: who looks at a process from outside knows the thread by it.
inline constexpr const char* kProgressThreadName = "anyrdma";

}  // namespace anyrdma::transport::realtime
