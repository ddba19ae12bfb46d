// Which faults a real stack can show: the errno values of calls, and the error statuses of
// completions. Each row names its source. K/x is the kernel's drivers/infiniband/core/x, L
// rdma-core's librdmacm/cma.c, IBTA the architecture specification, volume 1.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "transport/fault/plan/fault.h"

namespace anyrdma::fault {

/// One errno with which a call can fail, and the source.
struct LegalErrno {
  std::string_view call;
  int error;
  std::string_view source;
};
[[nodiscard]] std::span<const LegalErrno> legal_errnos();

/// The name that stands for all calls that create an object.
inline constexpr std::string_view kAnyAllocation = "any_allocation";
/// Whether the call creates an object, so that "any_allocation" counts it.
[[nodiscard]] bool makes_object(std::string_view call);
/// Whether the call is made on an id. Calls without an id are counted for the whole host.
[[nodiscard]] bool is_call_on_id(std::string_view call);

/// A property that a request must have for a completion status.
enum class Needs : std::uint8_t {
  kNothing,
  kPayload,       ///< the message must have at least one byte
  kInvalidation,  ///< a SEND that invalidates a key
};

/// One error status that a completion of this kind can have, and the source.
struct LegalStatus {
  ibv_wc_opcode opcode;
  ibv_wc_status status;
  /// Possible on UD as well; all are possible on RC, and on UC those that need no answer.
  bool datagrams;
  Needs needs;
  std::string_view source;
};
[[nodiscard]] std::span<const LegalStatus> legal_statuses();
/// Returns the row for this error; null: no completion of this kind can have it.
[[nodiscard]] const LegalStatus* find_legal(ibv_wc_opcode opcode, ibv_wc_status status);

/// Returns why a fault on calls, requests or queues is impossible; empty: it is possible.
[[nodiscard]] std::string api_problem(const Fault& fault);

/// Returns the tables of docs/legality.md.
[[nodiscard]] std::string errno_table();
[[nodiscard]] std::string status_table();

}  // namespace anyrdma::fault
