// What a process that runs on the drop-in libraries has exactly once: its way to other hosts.
#pragma once

#include <memory>

#include "transport/transport.h"
#include "verbs/result.h"

namespace anyrdma::c_api {

/// The transport behind every device and id of this process, opened at the first call: the one that
/// ANYRDMA_TRANSPORT names. Lives as long as the process: the application may still use it from
/// threads that outlive main(). ENODEV: it cannot be opened; the first failure has put one line on
/// stderr that names cause and remedy. Threads: any.
[[nodiscard]] verbs::Result<transport::Transport*> process_transport();

/// Takes what the application has destroyed although one of its threads may still be inside, or is
/// about to enter. It stays in memory for some time. Threads: any.
void bury(std::shared_ptr<void> object);

}  // namespace anyrdma::c_api
