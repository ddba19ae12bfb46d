// Sends a message to the kernel after this process has ended, even if it was killed.
#pragma once

#include <netlink/msg.h>

#include <string>

#include "verbs/result.h"

namespace anyrdma::transport::rxe {

/// Starts a small process that waits for the end of this process. It then sends `message` over rdma
/// netlink, if the file `condition` exists at that time. The caller gets no signal about the small
/// process, and wait() does not return it. The small process has none of the caller's descriptors.
/// Errors: EMFILE, EAGAIN, ENOMEM. Threads: any.
[[nodiscard]] verbs::Result<void> send_after_the_end(nl_msg& message, const std::string& condition);

}  // namespace anyrdma::transport::rxe
