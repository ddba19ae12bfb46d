// A call from a thread that may make none.
#pragma once

#include <stdexcept>

namespace anyrdma::verbs {

/// Thrown by a runtime that belongs to one thread at a time (the simulator's) when another calls
/// meanwhile: nothing was done. The C API makes EPERM of it.
class ForeignThread final : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

}  // namespace anyrdma::verbs
