// Returns the names that verbs and librdmacm give to the numbers in a recording.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace anyrdma::recording {

/// "RDMA_CM_EVENT_ESTABLISHED".
[[nodiscard]] std::string cm_event_name(std::uint64_t type);
/// "IBV_EVENT_QP_FATAL".
[[nodiscard]] std::string async_event_name(std::uint64_t type);
/// "IBV_WC_RECV".
[[nodiscard]] std::string completion_name(std::uint64_t opcode);
/// "IBV_WC_SUCCESS".
[[nodiscard]] std::string completion_status(std::uint64_t status);
/// Returns the C function's name for cm's name of a call: "rdma_resolve_addr" for "resolve_addr".
[[nodiscard]] std::string call_name(std::string_view call);
/// Returns the text for the errno of a call: "0", or "-1 EINVAL".
[[nodiscard]] std::string result_text(std::uint64_t error);

}  // namespace anyrdma::recording
