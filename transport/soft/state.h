// The decisions of the kernel's cma.c and ucma.c that depend on the state of an id: which calls it
// allows, and which events still concern it. There is one rule for each call and each event. Calls
// without a rule are refused, events without a rule are dropped.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "transport/call.h"

namespace anyrdma::transport::soft {

/// enum rdma_cm_state, with its names and numbers.
enum class State : std::uint8_t {
  kIdle,          ///< owns no port
  kAddrQuery,     ///< waits for a neighbour
  kAddrResolved,  ///< device and GIDs known
  kRouteQuery,
  kRouteResolved,  ///< path known
  kConnect,        ///< sent a request, or was made for one; stays when that fails
  kDisconnect,     ///< heard of the connection's end
  kAddrBound,      ///< owns a port
  kListen,
  kDeviceRemoval,  ///< its device went away: every call is ENXIO
  kDestroying,
};
inline constexpr std::size_t kStateCount = 11;

/// "RDMA_CM_IDLE": the kernel's spelling.
[[nodiscard]] std::string_view to_string(State state);

/// The state of an id, for the decision whether a call is allowed.
struct Standing {
  State state = State::kIdle;
  ibv_qp_type type = IBV_QPT_RC;
  bool on_device = false;  ///< bound to one
  bool has_cm_id = false;  ///< cm_id.ib: asked, was made for a request, or listens on its device
};

/// Returns 0 if the id's state allows the call, else an errno.
[[nodiscard]] int verdict_on(Call call, const Standing& standing);

/// Returns the state after an event. Nothing: the event came too late or too early, and is not
/// reported.
[[nodiscard]] std::optional<State> state_after(rdma_cm_event_type event, State state);

}  // namespace anyrdma::transport::soft
