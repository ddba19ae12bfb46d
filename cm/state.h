// The states of an Id: rdma_cm_state of the kernel, with its names and numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace anyrdma::cm {

/// Fact sheet 1.1. Values are the kernel's.
enum class State : std::uint8_t {
  kIdle,
  kAddrQuery,
  kAddrResolved,
  kRouteQuery,
  kRouteResolved,
  kConnect,
  kDisconnect,
  kAddrBound,
  kListen,
  kDeviceRemoval,
  kDestroying,
  // ADDRINFO_QUERY and ADDRINFO_RESOLVED join with rdma_resolve_addrinfo.
};
inline constexpr std::size_t kStateCount = 11;

/// What the state decides about. One entry per call whose legality depends on the state; where the
/// argument matters as well (REUSEADDR), one per case. Not here: what only asks the id's memory or
/// its device (ports, ECE, shared receive queues).
enum class Operation : std::uint8_t {
  kBind,
  kResolveAddr,
  kResolveRoute,
  kListen,
  kConnect,
  kEstablish,
  kAccept,
  kReject,
  kDisconnect,
  kNotify,
  kJoinMulticast,
  kLeaveMulticast,
  kCreateQp,
  kInitQpAttr,
  kSetTos,
  kSetReuseAddr,
  kClearReuseAddr,
  kSetAfOnly,
  kSetAckTimeout,
  kSetIbPath,
  kMigrate,
  kDestroy,
};
inline constexpr std::size_t kOperationCount = 22;

/// "RDMA_CM_IDLE": the kernel's spelling.
[[nodiscard]] std::string_view to_string(State state);
/// "bind_addr", "set_option(ID, TOS)": the C call without its rdma_ prefix.
[[nodiscard]] std::string_view to_string(Operation operation);

}  // namespace anyrdma::cm
