// Implements the functions of <infiniband/verbs.h> for device memory (ibv_alloc_dm) and for advice
// about regions (ibv_advise_mr).
#pragma once

#include <infiniband/verbs.h>

#include "verbs/soft/hca.h"

namespace anyrdma::verbs::soft {

/// Sets alloc_dm, free_dm, reg_dm_mr and advise_mr in the context's operations.
void install_device_memory_operations(verbs_context& context);

/// Fills in the attributes of ibv_query_device_ex that describe device memory and on-demand paging.
void describe_memory(const HcaConfig& config, ibv_device_attr_ex& attr);

}  // namespace anyrdma::verbs::soft
