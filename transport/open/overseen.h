// An opened transport in a process on a simulated host: it asks the world's fault plan, and reports
// to its checkers (transport/fault/plan/question.h).
#pragma once

#include <memory>

#include "transport/open/faulty.h"
#include "transport/open/opened.h"
#include "transport/open/watchable.h"

namespace anyrdma::transport {

/// `below`, with the world's answers to all that it wants to be asked. `breakable` and `watchable`
/// are part of it. Where there is no world after all, nothing is different. ENODEV: the host's
/// device was removed.
[[nodiscard]] OpenResult with_oversight(std::unique_ptr<Opened> below, Breakable& breakable,
                                        Watchable& watchable);

}  // namespace anyrdma::transport
