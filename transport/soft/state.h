// The decisions of the kernel's cma.c and ucma.c that depend on the state of an id: which calls the
// state allows, and which events the id still gets. There is one rule for each call and each event.
// Calls without a rule are refused, and events without a rule are dropped.
#pragma once

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "transport/call.h"

namespace anyrdma::transport::soft {

/// The states of an id, with the names and numbers of the kernel's enum rdma_cm_state.
enum class State : std::uint8_t {
  kIdle,          ///< the id has no port
  kAddrQuery,     ///< waits for the answer about a neighbour
  kAddrResolved,  ///< the device and the GIDs are known
  kRouteQuery,
  kRouteResolved,  ///< the path is known
  kConnect,        ///< the id has sent a request or was made for one; stays when that fails
  kDisconnect,     ///< the connection has ended
  kAddrBound,      ///< the id has a port
  kListen,
  kDeviceRemoval,  ///< the device was removed: every call fails with ENXIO
  kDestroying,
};
inline constexpr std::size_t kStateCount = 11;

/// Returns the state in the kernel's spelling: "RDMA_CM_IDLE".
[[nodiscard]] std::string_view to_string(State state);

/// The properties of an id that decide which calls are allowed.
struct Standing {
  State state = State::kIdle;
  ibv_qp_type type = IBV_QPT_RC;
  bool on_device = false;  ///< the id is bound to a device

  /// Kernel: cm_id.ib; the id has sent a request, was made for one, or listens on its device.
  bool has_cm_id = false;
};

/// Returns 0 if the id's state allows the call, else an errno.
[[nodiscard]] int verdict_on(Call call, const Standing& standing);

/// Returns the state of an id after an event. Nothing: the event came too late or too early, and is
/// not reported.
[[nodiscard]] std::optional<State> state_after(rdma_cm_event_type event, State state);

}  // namespace anyrdma::transport::soft
