// An opened transport in a process on a simulated host: it asks the world's fault plan, and reports
// to its checkers (transport/fault/plan/question.h).
#pragma once

#include <memory>

#include "transport/open/faulty.h"
#include "transport/open/opened.h"
#include "transport/open/watchable.h"

namespace anyrdma::transport {

/// Returns `below`, connected to the simulated world: the world's fault plan decides, and its
/// checkers get reports. `breakable` and `watchable` are parts of `below`. Without a world, `below`
/// is unchanged. ENODEV: the host's device was removed.
[[nodiscard]] OpenResult with_oversight(std::unique_ptr<Opened> below, Breakable& breakable,
                                        Watchable& watchable);

}  // namespace anyrdma::transport
