// Device memory and advice about regions, as <infiniband/verbs.h> reaches them.
#pragma once

#include <infiniband/verbs.h>

#include "verbs/soft/hca.h"

namespace anyrdma::verbs::soft {

/// Fills alloc_dm, free_dm, reg_dm_mr and advise_mr.
void install_device_memory_operations(verbs_context& context);

/// Fills in device memory and on-demand paging of ibv_query_device_ex.
void describe_memory(const HcaConfig& config, ibv_device_attr_ex& attr);

}  // namespace anyrdma::verbs::soft
