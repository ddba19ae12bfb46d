// The machine of tools/vm with its devices, which one of the *_machine.sh has prepared.
#pragma once

#include <string>

#include "tests/conformance/backends/realtime.h"

namespace anyrdma::conformance {

/// Both parties on one device, which talks to itself, or on one each (devices_machine.sh).
class MachineBackend : public RealtimeBackend {
 public:
  /// `number` is the scenario's: a neighbour of its own may move.
  explicit MachineBackend(unsigned number);
  ~MachineBackend() override;

  std::string address(Role role) override;
  void lose(Side from, Message message, unsigned count) override;
  void tell_of_neighbour(NeighbourNews news) override;
  void fail_over(Side side) override;
  void fail_back(Side side) override;

 protected:
  /// The end of a channel that is the kernel's.
  static void end_of_kernels(rdma_event_channel* channel);

 private:
  void set_neighbour(const std::string& state);

  unsigned number_;
  int alone_ = -1;              ///< with the bonds, where they fail over
  std::string link_address_{};  ///< of the neighbour that moves
};

}  // namespace anyrdma::conformance
