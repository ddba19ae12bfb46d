// Waits in poll(2) for several rsockets and descriptors.
#pragma once

#include <poll.h>

#include <memory>
#include <span>
#include <vector>

#include "cm/rsocket/socket.h"

namespace anyrdma::rsocket {

/// Returns the time of poll(2) until `deadline`, in milliseconds, rounded up; -1: no deadline.
[[nodiscard]] int milliseconds_until(const Deadline& deadline);
/// The deadline of a timeout of poll(2): negative: none.
[[nodiscard]] Deadline deadline_in(int milliseconds);

/// Waits as poll(2) does for `entries`, of which `sockets` has the rsocket of each or null. Returns
/// the number of entries with `revents`. EINTR.
[[nodiscard]] Result<int> poll_all(std::span<pollfd> entries,
                                   std::span<const std::shared_ptr<Socket>> sockets,
                                   const Deadline& deadline);

}  // namespace anyrdma::rsocket
