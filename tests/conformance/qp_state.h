// The states of queue pairs, which come a moment after what tells of them: newer Soft-RoCE
// completes a failed request in one thread and moves the queue pairs of both ends in others.
#pragma once

#include <infiniband/verbs.h>

#include "tests/conformance/party.h"

namespace anyrdma::conformance {

/// Whether the queue pair that completed this is in ERR soon, or already.
[[nodiscard]] bool leads_to_err(const ibv_wc& done, ibv_qp_type type);

/// 0, or why it cannot be asked.
[[nodiscard]] int query_qp_state(const Party& party, ibv_qp* qp, ibv_qp_state& state);

/// Waits, for 30 s at most, until the queue pair is there or cannot be asked.
void await_qp_state(const Party& party, ibv_qp* qp, ibv_qp_state state);

}  // namespace anyrdma::conformance
