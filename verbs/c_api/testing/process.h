// A process's transport, for tests of the doors: whatever the test says it is.
#pragma once

#include "transport/transport.h"

namespace anyrdma::c_api::testing {

/// What process_transport() answers from now on; null: ENODEV, as without a fabric.
void set_process_transport(transport::Transport* transport);

}  // namespace anyrdma::c_api::testing
