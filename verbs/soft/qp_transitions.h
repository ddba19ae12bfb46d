// The required and optional attributes of each transition of a queue pair, as data (IBTA vol 1,
// table 91).
#pragma once

#include <infiniband/verbs.h>

#include <span>

namespace anyrdma::verbs::soft {

struct TransitionRow {
  ibv_qp_state from;
  ibv_qp_state to;
  int required;  ///< ibv_qp_attr_mask; IBV_QP_STATE itself is always allowed
  int optional;
};

/// The rows of a type of queue pair; none for types that the device does not have. A pair that has
/// no row is not allowed, except that every state may go to RESET, and every one but RESET to ERR,
/// as Linux has it; without attributes.
[[nodiscard]] std::span<const TransitionRow> transitions_of(ibv_qp_type type);

/// Attributes that have no meaning for a type and are ignored when given, as the kernel does with
/// those of an extended connection's other half; perftest gives them.
[[nodiscard]] int ignored_attributes(ibv_qp_type type);

/// Whether the mask fits a transition of this service.
[[nodiscard]] bool transition_allowed(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to,
                                      int mask);

}  // namespace anyrdma::verbs::soft
