// Waiting in real time: what all backends but the simulator's share.
#pragma once

#include "tests/conformance/backend.h"

namespace anyrdma::conformance {

class RealtimeBackend : public Backend {
 public:
  [[nodiscard]] Instant now() override;
  /// Looks again every millisecond.
  [[nodiscard]] bool wait_until(const std::function<bool()>& done, Duration patience) override;
  /// On a thread each. A thread that does not end ends the process: nobody could cancel it.
  [[nodiscard]] bool run_both(std::function<void()> server, std::function<void()> client,
                              Duration patience) override;
};

/// Puts the process into a network namespace of its own, in which the addresses belong to an
/// interface. Empty: done; else why not. Before threads are started.
[[nodiscard]] std::string enter_own_network(const std::vector<std::string>& addresses);

}  // namespace anyrdma::conformance
