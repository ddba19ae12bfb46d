// The machine of tools/vm with its Soft-RoCE device, which rxe_machine.sh has prepared.
#pragma once

#include <string>

#include "tests/conformance/backends/realtime.h"

namespace anyrdma::conformance {

/// Both parties on that device, which talks to itself.
class MachineBackend : public RealtimeBackend {
 public:
  std::string address(Role role) override;

 protected:
  /// The end of a channel that is the kernel's.
  static void end_of_kernels(rdma_event_channel* channel);
};

}  // namespace anyrdma::conformance
