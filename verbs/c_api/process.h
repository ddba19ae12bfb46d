// What a process that runs on the drop-in libraries has exactly once: its way to the fabric.
#pragma once

#include "transport/transport.h"
#include "verbs/result.h"

namespace anyrdma::c_api {

/// The transport behind every device and id of this process, opened at the first call. Lives as
/// long as the process: the application may still use it from threads that outlive main(). ENODEV:
/// it cannot be opened; the first failure has put one line on stderr that names the cause. Threads:
/// any.
[[nodiscard]] verbs::Result<transport::Transport*> process_transport();

}  // namespace anyrdma::c_api
