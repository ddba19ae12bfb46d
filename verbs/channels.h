// Completion channels by address: which of them were destroyed.
#pragma once

#include <infiniband/verbs.h>

#include "verbs/result.h"

namespace anyrdma::verbs {

/// Creates a completion channel, as ibv_create_comp_channel(3) does. Every channel that a program
/// can see is created here, so that no channel is taken for one that was destroyed before it.
/// Errors are those of Provider::create_comp_channel. Any thread may call it. Precondition: not
/// null.
[[nodiscard]] Result<ibv_comp_channel*> create_channel(ibv_context* context);

/// Destroys a completion channel, as ibv_destroy_comp_channel(3) does. EBADF: the channel was
/// destroyed before; EBUSY: a completion queue uses it. Any thread may call it. Precondition: not
/// null.
[[nodiscard]] Result<void> destroy_channel(ibv_comp_channel* channel);

/// Whether the channel at this address is among the last that were destroyed. With rdma-core,
/// ibv_get_cq_event() of such a channel reads the closed descriptor from freed memory, and returns
/// EBADF as long as nothing else is there. Programs rely on it when they end: rping destroys the
/// channel while a thread is about to wait on it. Any thread may call it. Precondition: not null.
[[nodiscard]] bool channel_has_ended(const ibv_comp_channel* channel);

}  // namespace anyrdma::verbs
