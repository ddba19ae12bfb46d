// Connects an opened transport in a process on a simulated host to the simulator. The transport
// asks the simulator's fault plan, and reports to its checkers (transport/fault/plan/question.h).
#pragma once

#include <memory>

#include "transport/open/faulty.h"
#include "transport/open/opened.h"
#include "transport/open/watchable.h"

namespace anyrdma::transport {

/// Returns `below`, connected to the simulator: the simulator's fault plan decides about faults,
/// and its checkers get reports. `breakable` and `watchable` are parts of `below`. Without a
/// simulator, `below` is returned unchanged. ENODEV: the host's device was removed.
[[nodiscard]] OpenResult with_oversight(std::unique_ptr<Opened> below, Breakable& breakable,
                                        Watchable& watchable);

}  // namespace anyrdma::transport
