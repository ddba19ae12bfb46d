// Sends a message to the kernel after this process has ended, however it ends.
#pragma once

#include <netlink/msg.h>

#include <string>

#include "verbs/result.h"

namespace anyrdma::transport::rxe {

/// Starts a small process that outlives this one and then sends `message` over rdma netlink, if the
/// file `condition` is still there. The caller sees nothing of it: no signal, and wait() does not
/// know it. It has none of the caller's descriptors, so that it keeps nothing open. Errors: EMFILE,
/// EAGAIN, ENOMEM. Threads: any.
[[nodiscard]] verbs::Result<void> send_after_the_end(nl_msg& message, const std::string& condition);

}  // namespace anyrdma::transport::rxe
