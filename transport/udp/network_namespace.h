// Runs a function in another network namespace. Sockets stay in the namespace in which they were
// created.
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
