// The table of the required and optional attributes of each state transition of a queue pair (IBTA
// vol 1, table 91).
#pragma once

#include <infiniband/verbs.h>

#include <span>

namespace anyrdma::verbs::soft {

struct TransitionRow {
  ibv_qp_state from;
  ibv_qp_state to;
  int required;  ///< ibv_qp_attr_mask; IBV_QP_STATE is always allowed in addition
  int optional;
};

/// Returns the allowed state transitions of a queue pair type; empty for types that the device does
/// not support. Two transitions are not in the list, because they are always allowed without
/// attributes, as in Linux: from every state to RESET, and from every state except RESET to ERR.
[[nodiscard]] std::span<const TransitionRow> transitions_of(ibv_qp_type type);

/// Returns the mask of attributes that ibv_modify_qp ignores for this queue pair type. Example:
/// attributes that only an XRC target QP has, for an XRC initiator QP. Linux ignores them, and
/// perftest sets them.
[[nodiscard]] int ignored_attributes(ibv_qp_type type);

/// Whether ibv_modify_qp may make this transition with this attribute mask.
[[nodiscard]] bool transition_allowed(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to,
                                      int mask);

}  // namespace anyrdma::verbs::soft
