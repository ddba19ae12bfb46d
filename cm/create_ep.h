// rdma_create_ep: an id that can connect or listen, from a resolved name.
#pragma once

#include <rdma/rdma_cma.h>

#include <memory>

#include "cm/id.h"

namespace anyrdma::cm {

/// Creates a synchronous id from `info`. With RAI_PASSIVE the id is bound to ai_src_addr, and
/// get_request() creates `qp` (if given) on `pd` for every new id. Otherwise the address and the
/// route are resolved, 2 s each; ai_route replaces the latter. Then `qp` (if given) is created on
/// `pd`, and ai_connect precedes the private data of connect(). The queue pair type is always
/// ai_qp_type. Errors: EINVAL for port space or addresses, else the error of the step that failed.
/// On any error everything is freed. Source: rdma_create_ep(3), L/cma.c:rdma_create_ep.
[[nodiscard]] Result<std::unique_ptr<Id>> create_ep(transport::Transport& transport,
                                                    const rdma_addrinfo& info, ibv_pd* pd,
                                                    ibv_qp_init_attr* qp);
/// Destroys the id with its queue pair and shared receive queue. Errors as Id::destroy.
[[nodiscard]] Result<void> destroy_ep(std::unique_ptr<Id> id);

}  // namespace anyrdma::cm
