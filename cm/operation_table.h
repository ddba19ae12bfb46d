// Which call is legal in which state: one row for every pair, to be held against sections 1.3
// and 1.4 of the fact sheet. K/ and L/ in comments are kernel and librdmacm functions.
#pragma once

#include <array>
#include <cerrno>

#include "cm/state.h"

namespace anyrdma::cm {

enum class Verdict : std::uint8_t {
  kAllow,   ///< the call goes on; arguments, device and CM may still refuse it
  kRefuse,  ///< the call fails with `error` and changes nothing
};

/// What happens to `operation` in `from`.
struct OperationRow {
  Operation operation;
  State from;
  Verdict verdict;
  int error;      ///< of a refusal
  State success;  ///< the state after success; `from` for a refusal
  State failure;  ///< the state after a call that was allowed and then failed at once
};

namespace operation_table {

using enum State;

struct Cell {
  Verdict verdict;
  int error;
  State success;
  State failure;
};
constexpr Cell move(State success, State failure) {
  return {Verdict::kAllow, 0, success, failure};
}
constexpr Cell refuse(int error) {
  return {Verdict::kRefuse, error, kIdle, kIdle};
}
constexpr OperationRow row(Operation operation, State from, Cell cell) {
  if (cell.verdict == Verdict::kRefuse) {
    return {operation, from, Verdict::kRefuse, cell.error, from, from};
  }
  return {operation, from, Verdict::kAllow, 0, cell.success, cell.failure};
}

/// Ordered by operation, then state. DEVICE_REMOVAL: the kernel id is gone, ENXIO; DESTROYING: the
/// handle is gone, ENOENT (fact sheet 1.2).
using Op = Operation;
inline constexpr std::array<OperationRow, kOperationCount * kStateCount> kRows{{
    // bind_addr: only a fresh id (K/cma:rdma_bind_addr_dst).
    row(Op::kBind, kIdle, move(kAddrBound, kIdle)),
    row(Op::kBind, kAddrQuery, refuse(EINVAL)),
    row(Op::kBind, kAddrResolved, refuse(EINVAL)),
    row(Op::kBind, kRouteQuery, refuse(EINVAL)),
    row(Op::kBind, kRouteResolved, refuse(EINVAL)),
    row(Op::kBind, kConnect, refuse(EINVAL)),
    row(Op::kBind, kDisconnect, refuse(EINVAL)),
    row(Op::kBind, kAddrBound, refuse(EINVAL)),
    row(Op::kBind, kListen, refuse(EINVAL)),
    row(Op::kBind, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kBind, kDestroying, refuse(ENOENT)),
    // resolve_addr: fresh or bound; any failure leaves a bound id (K/cma:rdma_resolve_addr).
    row(Op::kResolveAddr, kIdle, move(kAddrQuery, kAddrBound)),
    row(Op::kResolveAddr, kAddrQuery, refuse(EINVAL)),
    row(Op::kResolveAddr, kAddrResolved, refuse(EINVAL)),
    row(Op::kResolveAddr, kRouteQuery, refuse(EINVAL)),
    row(Op::kResolveAddr, kRouteResolved, refuse(EINVAL)),
    row(Op::kResolveAddr, kConnect, refuse(EINVAL)),
    row(Op::kResolveAddr, kDisconnect, refuse(EINVAL)),
    row(Op::kResolveAddr, kAddrBound, move(kAddrQuery, kAddrBound)),
    row(Op::kResolveAddr, kListen, refuse(EINVAL)),
    row(Op::kResolveAddr, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kResolveAddr, kDestroying, refuse(ENOENT)),
    // resolve_route: a failure may be retried (K/cma:rdma_resolve_route).
    row(Op::kResolveRoute, kIdle, refuse(EINVAL)),
    row(Op::kResolveRoute, kAddrQuery, refuse(EINVAL)),
    row(Op::kResolveRoute, kAddrResolved, move(kRouteQuery, kAddrResolved)),
    row(Op::kResolveRoute, kRouteQuery, refuse(EINVAL)),
    row(Op::kResolveRoute, kRouteResolved, refuse(EINVAL)),
    row(Op::kResolveRoute, kConnect, refuse(EINVAL)),
    row(Op::kResolveRoute, kDisconnect, refuse(EINVAL)),
    row(Op::kResolveRoute, kAddrBound, refuse(EINVAL)),
    row(Op::kResolveRoute, kListen, refuse(EINVAL)),
    row(Op::kResolveRoute, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kResolveRoute, kDestroying, refuse(ENOENT)),
    // listen: an unbound id is bound to the IPv4 wildcard on the way (K/cma:rdma_listen).
    row(Op::kListen, kIdle, move(kListen, kAddrBound)),
    row(Op::kListen, kAddrQuery, refuse(EINVAL)),
    row(Op::kListen, kAddrResolved, refuse(EINVAL)),
    row(Op::kListen, kRouteQuery, refuse(EINVAL)),
    row(Op::kListen, kRouteResolved, refuse(EINVAL)),
    row(Op::kListen, kConnect, refuse(EINVAL)),
    row(Op::kListen, kDisconnect, refuse(EINVAL)),
    row(Op::kListen, kAddrBound, move(kListen, kAddrBound)),
    row(Op::kListen, kListen, refuse(EINVAL)),
    row(Op::kListen, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kListen, kDestroying, refuse(ENOENT)),
    // connect: single use once accepted, retryable when refused (K/cma:rdma_connect_locked).
    row(Op::kConnect, kIdle, refuse(EINVAL)),
    row(Op::kConnect, kAddrQuery, refuse(EINVAL)),
    row(Op::kConnect, kAddrResolved, refuse(EINVAL)),
    row(Op::kConnect, kRouteQuery, refuse(EINVAL)),
    row(Op::kConnect, kRouteResolved, move(kConnect, kRouteResolved)),
    row(Op::kConnect, kConnect, refuse(EINVAL)),
    row(Op::kConnect, kDisconnect, refuse(EINVAL)),
    row(Op::kConnect, kAddrBound, refuse(EINVAL)),
    row(Op::kConnect, kListen, refuse(EINVAL)),
    row(Op::kConnect, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kConnect, kDestroying, refuse(ENOENT)),
    // establish: the CM id's state decides the rest (L/cma.c:rdma_establish).
    row(Op::kEstablish, kIdle, refuse(EINVAL)),
    row(Op::kEstablish, kAddrQuery, refuse(EINVAL)),
    row(Op::kEstablish, kAddrResolved, refuse(EINVAL)),
    row(Op::kEstablish, kRouteQuery, refuse(EINVAL)),
    row(Op::kEstablish, kRouteResolved, refuse(EINVAL)),
    row(Op::kEstablish, kConnect, move(kConnect, kConnect)),
    row(Op::kEstablish, kDisconnect, refuse(EINVAL)),
    row(Op::kEstablish, kAddrBound, refuse(EINVAL)),
    row(Op::kEstablish, kListen, refuse(EINVAL)),
    row(Op::kEstablish, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kEstablish, kDestroying, refuse(ENOENT)),
    // accept: a failure also rejects the request, the state stays (K/cma:rdma_accept).
    row(Op::kAccept, kIdle, refuse(EINVAL)),
    row(Op::kAccept, kAddrQuery, refuse(EINVAL)),
    row(Op::kAccept, kAddrResolved, refuse(EINVAL)),
    row(Op::kAccept, kRouteQuery, refuse(EINVAL)),
    row(Op::kAccept, kRouteResolved, refuse(EINVAL)),
    row(Op::kAccept, kConnect, move(kConnect, kConnect)),
    row(Op::kAccept, kDisconnect, refuse(EINVAL)),
    row(Op::kAccept, kAddrBound, refuse(EINVAL)),
    row(Op::kAccept, kListen, refuse(EINVAL)),
    row(Op::kAccept, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kAccept, kDestroying, refuse(ENOENT)),
    // reject: needs a CM id that is still in its handshake (K/cm:cm_send_rej_locked).
    row(Op::kReject, kIdle, refuse(EINVAL)),
    row(Op::kReject, kAddrQuery, refuse(EINVAL)),
    row(Op::kReject, kAddrResolved, refuse(EINVAL)),
    row(Op::kReject, kRouteQuery, refuse(EINVAL)),
    row(Op::kReject, kRouteResolved, refuse(EINVAL)),
    row(Op::kReject, kConnect, move(kConnect, kConnect)),
    row(Op::kReject, kDisconnect, refuse(EINVAL)),
    row(Op::kReject, kAddrBound, refuse(EINVAL)),
    row(Op::kReject, kListen, refuse(EINVAL)),
    row(Op::kReject, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kReject, kDestroying, refuse(ENOENT)),
    // disconnect: any id with a CM id; DISCONNECTED moves the state, not the call.
    row(Op::kDisconnect, kIdle, refuse(EINVAL)),
    row(Op::kDisconnect, kAddrQuery, refuse(EINVAL)),
    row(Op::kDisconnect, kAddrResolved, refuse(EINVAL)),
    row(Op::kDisconnect, kRouteQuery, refuse(EINVAL)),
    row(Op::kDisconnect, kRouteResolved, refuse(EINVAL)),
    row(Op::kDisconnect, kConnect, move(kConnect, kConnect)),
    row(Op::kDisconnect, kDisconnect, move(kDisconnect, kDisconnect)),
    row(Op::kDisconnect, kAddrBound, refuse(EINVAL)),
    row(Op::kDisconnect, kListen, refuse(EINVAL)),
    row(Op::kDisconnect, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kDisconnect, kDestroying, refuse(ENOENT)),
    // notify: after DISCONNECT the CM id has left REP_SENT for good (K/cm:cm_establish).
    row(Op::kNotify, kIdle, refuse(EINVAL)),
    row(Op::kNotify, kAddrQuery, refuse(EINVAL)),
    row(Op::kNotify, kAddrResolved, refuse(EINVAL)),
    row(Op::kNotify, kRouteQuery, refuse(EINVAL)),
    row(Op::kNotify, kRouteResolved, refuse(EINVAL)),
    row(Op::kNotify, kConnect, move(kConnect, kConnect)),
    row(Op::kNotify, kDisconnect, refuse(EINVAL)),
    row(Op::kNotify, kAddrBound, refuse(EINVAL)),
    row(Op::kNotify, kListen, refuse(EINVAL)),
    row(Op::kNotify, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kNotify, kDestroying, refuse(ENOENT)),
    // join_multicast: not once the route is resolved (fact 56, K/cma:rdma_join_multicast).
    row(Op::kJoinMulticast, kIdle, refuse(EINVAL)),
    row(Op::kJoinMulticast, kAddrQuery, refuse(EINVAL)),
    row(Op::kJoinMulticast, kAddrResolved, move(kAddrResolved, kAddrResolved)),
    row(Op::kJoinMulticast, kRouteQuery, refuse(EINVAL)),
    row(Op::kJoinMulticast, kRouteResolved, refuse(EINVAL)),
    row(Op::kJoinMulticast, kConnect, refuse(EINVAL)),
    row(Op::kJoinMulticast, kDisconnect, refuse(EINVAL)),
    row(Op::kJoinMulticast, kAddrBound, move(kAddrBound, kAddrBound)),
    row(Op::kJoinMulticast, kListen, refuse(EINVAL)),
    row(Op::kJoinMulticast, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kJoinMulticast, kDestroying, refuse(ENOENT)),
    // leave_multicast: whatever the id has joined (K/ucma:ucma_leave_multicast).
    row(Op::kLeaveMulticast, kIdle, move(kIdle, kIdle)),
    row(Op::kLeaveMulticast, kAddrQuery, move(kAddrQuery, kAddrQuery)),
    row(Op::kLeaveMulticast, kAddrResolved, move(kAddrResolved, kAddrResolved)),
    row(Op::kLeaveMulticast, kRouteQuery, move(kRouteQuery, kRouteQuery)),
    row(Op::kLeaveMulticast, kRouteResolved, move(kRouteResolved, kRouteResolved)),
    row(Op::kLeaveMulticast, kConnect, move(kConnect, kConnect)),
    row(Op::kLeaveMulticast, kDisconnect, move(kDisconnect, kDisconnect)),
    row(Op::kLeaveMulticast, kAddrBound, move(kAddrBound, kAddrBound)),
    row(Op::kLeaveMulticast, kListen, move(kListen, kListen)),
    row(Op::kLeaveMulticast, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kLeaveMulticast, kDestroying, refuse(ENOENT)),
    // create_qp: a device has to be bound as well; listeners and finished ids have no INIT.
    row(Op::kCreateQp, kIdle, refuse(EINVAL)),
    row(Op::kCreateQp, kAddrQuery, move(kAddrQuery, kAddrQuery)),
    row(Op::kCreateQp, kAddrResolved, move(kAddrResolved, kAddrResolved)),
    row(Op::kCreateQp, kRouteQuery, move(kRouteQuery, kRouteQuery)),
    row(Op::kCreateQp, kRouteResolved, move(kRouteResolved, kRouteResolved)),
    row(Op::kCreateQp, kConnect, move(kConnect, kConnect)),
    row(Op::kCreateQp, kDisconnect, refuse(EINVAL)),
    row(Op::kCreateQp, kAddrBound, move(kAddrBound, kAddrBound)),
    row(Op::kCreateQp, kListen, refuse(EINVAL)),
    row(Op::kCreateQp, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kCreateQp, kDestroying, refuse(ENOENT)),
    // init_qp_attr: as create_qp (K/cma:rdma_init_qp_attr, K/cm:ib_cm_init_qp_attr).
    row(Op::kInitQpAttr, kIdle, refuse(EINVAL)),
    row(Op::kInitQpAttr, kAddrQuery, move(kAddrQuery, kAddrQuery)),
    row(Op::kInitQpAttr, kAddrResolved, move(kAddrResolved, kAddrResolved)),
    row(Op::kInitQpAttr, kRouteQuery, move(kRouteQuery, kRouteQuery)),
    row(Op::kInitQpAttr, kRouteResolved, move(kRouteResolved, kRouteResolved)),
    row(Op::kInitQpAttr, kConnect, move(kConnect, kConnect)),
    row(Op::kInitQpAttr, kDisconnect, refuse(EINVAL)),
    row(Op::kInitQpAttr, kAddrBound, move(kAddrBound, kAddrBound)),
    row(Op::kInitQpAttr, kListen, refuse(EINVAL)),
    row(Op::kInitQpAttr, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kInitQpAttr, kDestroying, refuse(ENOENT)),
    // set_option(ID, TOS): any live id (fact sheet 1.4).
    row(Op::kSetTos, kIdle, move(kIdle, kIdle)),
    row(Op::kSetTos, kAddrQuery, move(kAddrQuery, kAddrQuery)),
    row(Op::kSetTos, kAddrResolved, move(kAddrResolved, kAddrResolved)),
    row(Op::kSetTos, kRouteQuery, move(kRouteQuery, kRouteQuery)),
    row(Op::kSetTos, kRouteResolved, move(kRouteResolved, kRouteResolved)),
    row(Op::kSetTos, kConnect, move(kConnect, kConnect)),
    row(Op::kSetTos, kDisconnect, move(kDisconnect, kDisconnect)),
    row(Op::kSetTos, kAddrBound, move(kAddrBound, kAddrBound)),
    row(Op::kSetTos, kListen, move(kListen, kListen)),
    row(Op::kSetTos, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kSetTos, kDestroying, refuse(ENOENT)),
    // set_option(ID, REUSEADDR) on: late is fine, but not on a listener (K/cma:rdma_set_reuseaddr).
    row(Op::kSetReuseAddr, kIdle, move(kIdle, kIdle)),
    row(Op::kSetReuseAddr, kAddrQuery, move(kAddrQuery, kAddrQuery)),
    row(Op::kSetReuseAddr, kAddrResolved, move(kAddrResolved, kAddrResolved)),
    row(Op::kSetReuseAddr, kRouteQuery, move(kRouteQuery, kRouteQuery)),
    row(Op::kSetReuseAddr, kRouteResolved, move(kRouteResolved, kRouteResolved)),
    row(Op::kSetReuseAddr, kConnect, move(kConnect, kConnect)),
    row(Op::kSetReuseAddr, kDisconnect, move(kDisconnect, kDisconnect)),
    row(Op::kSetReuseAddr, kAddrBound, move(kAddrBound, kAddrBound)),
    row(Op::kSetReuseAddr, kListen, refuse(EINVAL)),
    row(Op::kSetReuseAddr, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kSetReuseAddr, kDestroying, refuse(ENOENT)),
    // set_option(ID, REUSEADDR) off: only a fresh id.
    row(Op::kClearReuseAddr, kIdle, move(kIdle, kIdle)),
    row(Op::kClearReuseAddr, kAddrQuery, refuse(EINVAL)),
    row(Op::kClearReuseAddr, kAddrResolved, refuse(EINVAL)),
    row(Op::kClearReuseAddr, kRouteQuery, refuse(EINVAL)),
    row(Op::kClearReuseAddr, kRouteResolved, refuse(EINVAL)),
    row(Op::kClearReuseAddr, kConnect, refuse(EINVAL)),
    row(Op::kClearReuseAddr, kDisconnect, refuse(EINVAL)),
    row(Op::kClearReuseAddr, kAddrBound, refuse(EINVAL)),
    row(Op::kClearReuseAddr, kListen, refuse(EINVAL)),
    row(Op::kClearReuseAddr, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kClearReuseAddr, kDestroying, refuse(ENOENT)),
    // set_option(ID, AFONLY): K/cma:rdma_set_afonly.
    row(Op::kSetAfOnly, kIdle, move(kIdle, kIdle)),
    row(Op::kSetAfOnly, kAddrQuery, refuse(EINVAL)),
    row(Op::kSetAfOnly, kAddrResolved, refuse(EINVAL)),
    row(Op::kSetAfOnly, kRouteQuery, refuse(EINVAL)),
    row(Op::kSetAfOnly, kRouteResolved, refuse(EINVAL)),
    row(Op::kSetAfOnly, kConnect, refuse(EINVAL)),
    row(Op::kSetAfOnly, kDisconnect, refuse(EINVAL)),
    row(Op::kSetAfOnly, kAddrBound, move(kAddrBound, kAddrBound)),
    row(Op::kSetAfOnly, kListen, refuse(EINVAL)),
    row(Op::kSetAfOnly, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kSetAfOnly, kDestroying, refuse(ENOENT)),
    // set_option(ID, ACK_TIMEOUT): any live id (K/cma:rdma_set_ack_timeout).
    row(Op::kSetAckTimeout, kIdle, move(kIdle, kIdle)),
    row(Op::kSetAckTimeout, kAddrQuery, move(kAddrQuery, kAddrQuery)),
    row(Op::kSetAckTimeout, kAddrResolved, move(kAddrResolved, kAddrResolved)),
    row(Op::kSetAckTimeout, kRouteQuery, move(kRouteQuery, kRouteQuery)),
    row(Op::kSetAckTimeout, kRouteResolved, move(kRouteResolved, kRouteResolved)),
    row(Op::kSetAckTimeout, kConnect, move(kConnect, kConnect)),
    row(Op::kSetAckTimeout, kDisconnect, move(kDisconnect, kDisconnect)),
    row(Op::kSetAckTimeout, kAddrBound, move(kAddrBound, kAddrBound)),
    row(Op::kSetAckTimeout, kListen, move(kListen, kListen)),
    row(Op::kSetAckTimeout, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kSetAckTimeout, kDestroying, refuse(ENOENT)),
    // set_option(IB, PATH): resolves the route by itself (K/cma:rdma_set_ib_path).
    row(Op::kSetIbPath, kIdle, refuse(EINVAL)),
    row(Op::kSetIbPath, kAddrQuery, refuse(EINVAL)),
    row(Op::kSetIbPath, kAddrResolved, move(kRouteResolved, kAddrResolved)),
    row(Op::kSetIbPath, kRouteQuery, refuse(EINVAL)),
    row(Op::kSetIbPath, kRouteResolved, refuse(EINVAL)),
    row(Op::kSetIbPath, kConnect, refuse(EINVAL)),
    row(Op::kSetIbPath, kDisconnect, refuse(EINVAL)),
    row(Op::kSetIbPath, kAddrBound, refuse(EINVAL)),
    row(Op::kSetIbPath, kListen, refuse(EINVAL)),
    row(Op::kSetIbPath, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kSetIbPath, kDestroying, refuse(ENOENT)),
    // migrate_id: any live id (K/ucma:ucma_migrate_id).
    row(Op::kMigrate, kIdle, move(kIdle, kIdle)),
    row(Op::kMigrate, kAddrQuery, move(kAddrQuery, kAddrQuery)),
    row(Op::kMigrate, kAddrResolved, move(kAddrResolved, kAddrResolved)),
    row(Op::kMigrate, kRouteQuery, move(kRouteQuery, kRouteQuery)),
    row(Op::kMigrate, kRouteResolved, move(kRouteResolved, kRouteResolved)),
    row(Op::kMigrate, kConnect, move(kConnect, kConnect)),
    row(Op::kMigrate, kDisconnect, move(kDisconnect, kDisconnect)),
    row(Op::kMigrate, kAddrBound, move(kAddrBound, kAddrBound)),
    row(Op::kMigrate, kListen, move(kListen, kListen)),
    row(Op::kMigrate, kDeviceRemoval, refuse(ENXIO)),
    row(Op::kMigrate, kDestroying, refuse(ENOENT)),
    // destroy_id: always.
    row(Op::kDestroy, kIdle, move(kDestroying, kDestroying)),
    row(Op::kDestroy, kAddrQuery, move(kDestroying, kDestroying)),
    row(Op::kDestroy, kAddrResolved, move(kDestroying, kDestroying)),
    row(Op::kDestroy, kRouteQuery, move(kDestroying, kDestroying)),
    row(Op::kDestroy, kRouteResolved, move(kDestroying, kDestroying)),
    row(Op::kDestroy, kConnect, move(kDestroying, kDestroying)),
    row(Op::kDestroy, kDisconnect, move(kDestroying, kDestroying)),
    row(Op::kDestroy, kAddrBound, move(kDestroying, kDestroying)),
    row(Op::kDestroy, kListen, move(kDestroying, kDestroying)),
    row(Op::kDestroy, kDeviceRemoval, move(kDestroying, kDestroying)),
    row(Op::kDestroy, kDestroying, refuse(ENOENT)),
}};

constexpr bool total_and_ordered() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].operation) != i / kStateCount) return false;
    if (static_cast<std::size_t>(kRows[i].from) != i % kStateCount) return false;
    if ((kRows[i].verdict == Verdict::kRefuse) != (kRows[i].error != 0)) {
      return false;
    }
  }
  return true;
}
static_assert(total_and_ordered(), "every operation needs one row per state, in order");

}  // namespace operation_table

/// The row that rules `operation` in `from`. Constant time.
[[nodiscard]] constexpr const OperationRow& row_of(Operation operation, State from) {
  return operation_table::kRows[static_cast<std::size_t>(operation) * kStateCount +
                                static_cast<std::size_t>(from)];
}

}  // namespace anyrdma::cm
