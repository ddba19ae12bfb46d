// What a real stack allows: which errno a call can return, which error a completion can have. Each
// row says where it was seen. K/x is the kernel's drivers/infiniband/core/x, L rdma-core's
// librdmacm/cma.c, IBTA the architecture specification, volume 1.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "transport/fault/plan/fault.h"

namespace anyrdma::fault {

/// A call can fail with that, as its source has it.
struct LegalErrno {
  std::string_view call;
  int error;
  std::string_view source;
};
[[nodiscard]] std::span<const LegalErrno> legal_errnos();

/// In place of a call's name: all that make an object.
inline constexpr std::string_view kAnyAllocation = "any_allocation";
/// Whether the call makes an object: what "any_allocation" counts.
[[nodiscard]] bool makes_object(std::string_view call);
/// Whether the call is made on an id; all others are counted for the host alone.
[[nodiscard]] bool is_call_on_id(std::string_view call);

/// A further property of a request for which a status is possible.
enum class Needs : std::uint8_t {
  kNothing,
  kPayload,       ///< a message without bytes cannot cause it
  kInvalidation,  ///< of a key, by a SEND
};

/// A completion of that kind can have that error, as its source has it.
struct LegalStatus {
  ibv_wc_opcode opcode;
  ibv_wc_status status;
  bool datagrams;  ///< on UD, too; on RC all are; on UC those that need no answer
  Needs needs;
  std::string_view source;
};
[[nodiscard]] std::span<const LegalStatus> legal_statuses();
/// Null: no completion of this kind has it.
[[nodiscard]] const LegalStatus* find_legal(ibv_wc_opcode opcode, ibv_wc_status status);

/// Why a fault of calls, requests or queues is impossible; empty: it is possible.
[[nodiscard]] std::string api_problem(const Fault& fault);

/// The tables as docs/legality.md shows them.
[[nodiscard]] std::string errno_table();
[[nodiscard]] std::string status_table();

}  // namespace anyrdma::fault
