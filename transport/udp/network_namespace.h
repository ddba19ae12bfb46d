// Runs a function in another network namespace. Sockets stay in the namespace in which they were
// created.
#pragma once

#include <functional>
#include <string>

#include "verbs/result.h"

namespace anyrdma::transport::udp {

/// Runs `body` in the network namespace at `path`, on a thread of its own. With an empty path, runs
/// it on the caller's thread. Errors, with which `body` did not run: ENOENT (no file, or no network
/// namespace), EPERM or EACCES (not allowed), EAGAIN (no thread could be started).
[[nodiscard]] verbs::Result<void> in_network_namespace(const std::string& path,
                                                       const std::function<void()>& body);

}  // namespace anyrdma::transport::udp
