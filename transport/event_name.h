// The names of the CM's events, for messages.
#pragma once

#include <rdma/rdma_cma.h>

#include <string_view>

namespace anyrdma::transport {

/// Returns the name as rdma_event_str does: "RDMA_CM_EVENT_ESTABLISHED"; "UNKNOWN EVENT" for an
/// unknown number.
[[nodiscard]] const char* event_name(rdma_cm_event_type type);

/// Returns the name of an event without the prefix RDMA_CM_EVENT_: "ESTABLISHED".
[[nodiscard]] std::string_view short_event_name(rdma_cm_event_type type);

}  // namespace anyrdma::transport
