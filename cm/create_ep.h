// Implements rdma_create_ep, which creates an id that can connect or listen, from a resolved name.
#pragma once

#include <rdma/rdma_cma.h>

#include <memory>

#include "cm/id.h"

namespace anyrdma::cm {

/// Creates a synchronous id from `info`. With RAI_PASSIVE, the id is bound to ai_src_addr, and
/// get_request() creates a queue pair for every new id, if `qp` is given. Without RAI_PASSIVE, the
/// address and the route are resolved, for at most 2 s each; ai_route replaces the route's
/// resolution. Then the queue pair is created, if `qp` is given. ai_connect precedes the private
/// data of connect(). `pd` is the queue pair's protection domain, ai_qp_type its type. EINVAL:
/// wrong port space or addresses; else the error of the step that failed. On any error everything
/// is freed. Source: rdma_create_ep(3), L/cma.c:rdma_create_ep.
[[nodiscard]] Result<std::unique_ptr<Id>> create_ep(transport::Transport& transport,
                                                    const rdma_addrinfo& info, ibv_pd* pd,
                                                    ibv_qp_init_attr* qp);
/// Destroys the id with its queue pair and shared receive queue. Errors as Id::destroy.
[[nodiscard]] Result<void> destroy_ep(std::unique_ptr<Id> id);

}  // namespace anyrdma::cm
