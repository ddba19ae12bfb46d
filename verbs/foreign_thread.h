// The exception for a call from a thread that may not call the library at that moment.
#pragma once

#include <stdexcept>

namespace anyrdma::verbs {

/// Thrown if a thread calls the simulator's runtime while another thread runs the simulation. The
/// call has no effect. The C API converts the exception to EPERM.
class ForeignThread final : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace anyrdma::verbs
