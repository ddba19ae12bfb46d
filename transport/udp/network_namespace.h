// Doing something in another network namespace: sockets stay in the one they were made in.
#pragma once

#include <functional>
#include <string>

#include "verbs/result.h"

namespace anyrdma::transport::udp {

/// Runs `body` in the network namespace at `path`, on a thread of its own that ends with it; where
/// the path is empty, on the caller's. ENOENT: nothing there, or no network namespace; EPERM,
/// EACCES: not allowed; EAGAIN: no thread to be had. `body` did not run then.
[[nodiscard]] verbs::Result<void> in_network_namespace(const std::string& path,
                                                       const std::function<void()>& body);

}  // namespace anyrdma::transport::udp
