// The names of the CM's events, for people.
#pragma once

#include <rdma/rdma_cma.h>

#include <string_view>

namespace anyrdma::transport {

/// The name that rdma_event_str gives: "RDMA_CM_EVENT_ESTABLISHED"; "UNKNOWN EVENT" for any other
/// number.
[[nodiscard]] const char* event_name(rdma_cm_event_type type);

/// The same without the prefix: "ESTABLISHED".
[[nodiscard]] std::string_view short_event_name(rdma_cm_event_type type);

}  // namespace anyrdma::transport
