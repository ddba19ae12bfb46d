// One call from a resolved name to an id that may connect or listen.
#pragma once

#include <rdma/rdma_cma.h>

#include <memory>

#include "cm/id.h"

namespace anyrdma::cm {

/// A synchronous id made after `info`. With RAI_PASSIVE it is bound to ai_src_addr, and a given
/// `qp` is what get_request() makes for every new id, on `pd`. Otherwise address and route are
/// resolved (two seconds each; ai_route is the route if there is one), a given `qp` is made on
/// `pd`, and ai_connect stands before the private data of connect(). The type of queue pair is
/// always ai_qp_type. EINVAL: port space, addresses; otherwise what the step that failed gives.
/// Then nothing is left. Source: rdma_create_ep(3), L/cma.c:rdma_create_ep.
[[nodiscard]] Result<std::unique_ptr<Id>> create_ep(transport::Transport& transport,
                                                    const rdma_addrinfo& info, ibv_pd* pd,
                                                    ibv_qp_init_attr* qp);
/// Destroys the id with its queue pair and shared receive queue. Errors as Id::destroy.
[[nodiscard]] Result<void> destroy_ep(std::unique_ptr<Id> id);

}  // namespace anyrdma::cm
