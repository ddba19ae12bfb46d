// The exception for a call from a thread that may not call the library now.
#pragma once

#include <stdexcept>

namespace anyrdma::verbs {

/// Thrown by the simulator's runtime, which only one thread at a time may use, when another thread
/// calls. The call has no effect. The C API converts the exception to EPERM.
class ForeignThread final : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace anyrdma::verbs
