// Waiting in real time for what comes true sooner or later.
#pragma once

#include <functional>

namespace anyrdma::transport::realtime::testing {

/// Whether `condition` comes true within two minutes, looking again all the time.
[[nodiscard]] bool eventually(const std::function<bool()>& condition);

}  // namespace anyrdma::transport::realtime::testing
