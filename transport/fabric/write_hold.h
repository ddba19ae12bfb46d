// Holds up whoever writes to a range of this process's memory, while its pages are exchanged.
#pragma once

#include <cstdint>

#include "transport/realtime/descriptor.h"

namespace anyrdma::transport::fabric {

/// While one exists, threads that write to the range wait (userfaultfd(2), write protection); their
/// system calls that would write there may fail with EFAULT where the process is unprivileged. The
/// holder must not write there itself, nor allocate memory, which might be taken from there.
class WriteHold {
 public:
  /// Whole pages that belong to one mapping.
  WriteHold(std::uint64_t begin, std::uint64_t size);
  /// False where the system has no such thing: nobody is held up.
  [[nodiscard]] bool holds() const { return static_cast<bool>(fd_); }

 private:
  realtime::Descriptor fd_;
};

}  // namespace anyrdma::transport::fabric
