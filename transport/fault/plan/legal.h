// Lists which faults a real RDMA stack can show: the errno values of calls, and the error statuses
// of completions. Each row names its source. K/x stands for the kernel's file
// drivers/infiniband/core/x, L for rdma-core's librdmacm/cma.c, IBTA for the architecture
// specification, volume 1.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "transport/fault/plan/fault.h"

namespace anyrdma::fault {

/// One errno with which a call can fail, and the source in which it is found.
struct LegalErrno {
  std::string_view call;
  int error;
  std::string_view source;
};
[[nodiscard]] std::span<const LegalErrno> legal_errnos();

/// The name of a call in a trigger that stands for all calls that create an object.
inline constexpr std::string_view kAnyAllocation = "any_allocation";
/// Whether the call creates an object. The trigger "any_allocation" counts such calls.
[[nodiscard]] bool makes_object(std::string_view call);
/// Whether the call is made on an id. Calls that are not made on an id are counted for the whole
/// host.
[[nodiscard]] bool is_call_on_id(std::string_view call);

/// A property that a request must have so that it can complete with a certain status.
enum class Needs : std::uint8_t {
  kNothing,
  kPayload,  ///< the message must have at least one byte
};

/// One error status with which completions of this kind can come, and the source.
struct LegalStatus {
  ibv_wc_opcode opcode;
  ibv_wc_status status;
  /// True: the status is possible on UD, too. Every status is possible on RC. Statuses that need no
  /// answer of the peer are possible on UC.
  bool datagrams;
  Needs needs;
  std::string_view source;
};
[[nodiscard]] std::span<const LegalStatus> legal_statuses();
/// Returns the row for this opcode and error status. Null: no completion of this kind can have the
/// status.
[[nodiscard]] const LegalStatus* find_legal(ibv_wc_opcode opcode, ibv_wc_status status);

/// Returns why a fault on calls, requests or queues is impossible. Empty: the fault is possible.
[[nodiscard]] std::string api_problem(const Fault& fault);

/// Returns the tables of docs/legality.md.
[[nodiscard]] std::string errno_table();
[[nodiscard]] std::string status_table();

}  // namespace anyrdma::fault
