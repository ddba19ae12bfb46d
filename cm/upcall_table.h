// Which of the transport's events reach the application in which state: one row for every pair, to
// be held against sections 1.1, 2.3 and 6 of the fact sheet.
#pragma once

#include <rdma/rdma_cma.h>

#include <array>

#include "cm/state.h"

namespace anyrdma::cm {

enum class Delivery : std::uint8_t {
  kDeliver,  ///< queued for the application, and the state moves
  kDrop,     ///< came too late or too early: silently forgotten, as the kernel does
};

/// What happens to an event of type `event` in `from`.
struct UpcallRow {
  rdma_cm_event_type event;
  State from;
  Delivery delivery;
  State next;  ///< `from` for a dropped event
};

/// ADDR_RESOLVED 0 ... TIMEWAIT_EXIT 15. The library's own USER and INTERNAL never come from below.
inline constexpr std::size_t kEventTypeCount = 16;

namespace upcall_table {

using enum State;

constexpr UpcallRow deliver(rdma_cm_event_type event, State from, State next) {
  return {event, from, Delivery::kDeliver, next};
}
constexpr UpcallRow drop(rdma_cm_event_type event, State from) {
  return {event, from, Delivery::kDrop, from};
}

/// Ordered by event type, then state.
inline constexpr std::array<UpcallRow, kEventTypeCount * kStateCount> kRows{{
    // ADDR_RESOLVED: answers the query, nothing else (K/cma:addr_handler).
    drop(RDMA_CM_EVENT_ADDR_RESOLVED, kIdle),
    deliver(RDMA_CM_EVENT_ADDR_RESOLVED, kAddrQuery, kAddrResolved),
    drop(RDMA_CM_EVENT_ADDR_RESOLVED, kAddrResolved),
    drop(RDMA_CM_EVENT_ADDR_RESOLVED, kRouteQuery),
    drop(RDMA_CM_EVENT_ADDR_RESOLVED, kRouteResolved),
    drop(RDMA_CM_EVENT_ADDR_RESOLVED, kConnect),
    drop(RDMA_CM_EVENT_ADDR_RESOLVED, kDisconnect),
    drop(RDMA_CM_EVENT_ADDR_RESOLVED, kAddrBound),
    drop(RDMA_CM_EVENT_ADDR_RESOLVED, kListen),
    drop(RDMA_CM_EVENT_ADDR_RESOLVED, kDeviceRemoval),
    drop(RDMA_CM_EVENT_ADDR_RESOLVED, kDestroying),
    // ADDR_ERROR: the id stays bound and may resolve again; in CONNECT, a datagram service's reply
    // came with the wrong QKey (K/cma:cma_sidr_rep_handler).
    drop(RDMA_CM_EVENT_ADDR_ERROR, kIdle),
    deliver(RDMA_CM_EVENT_ADDR_ERROR, kAddrQuery, kAddrBound),
    drop(RDMA_CM_EVENT_ADDR_ERROR, kAddrResolved),
    drop(RDMA_CM_EVENT_ADDR_ERROR, kRouteQuery),
    drop(RDMA_CM_EVENT_ADDR_ERROR, kRouteResolved),
    deliver(RDMA_CM_EVENT_ADDR_ERROR, kConnect, kConnect),
    drop(RDMA_CM_EVENT_ADDR_ERROR, kDisconnect),
    drop(RDMA_CM_EVENT_ADDR_ERROR, kAddrBound),
    drop(RDMA_CM_EVENT_ADDR_ERROR, kListen),
    drop(RDMA_CM_EVENT_ADDR_ERROR, kDeviceRemoval),
    drop(RDMA_CM_EVENT_ADDR_ERROR, kDestroying),
    // ROUTE_RESOLVED: K/cma:cma_query_handler.
    drop(RDMA_CM_EVENT_ROUTE_RESOLVED, kIdle),
    drop(RDMA_CM_EVENT_ROUTE_RESOLVED, kAddrQuery),
    drop(RDMA_CM_EVENT_ROUTE_RESOLVED, kAddrResolved),
    deliver(RDMA_CM_EVENT_ROUTE_RESOLVED, kRouteQuery, kRouteResolved),
    drop(RDMA_CM_EVENT_ROUTE_RESOLVED, kRouteResolved),
    drop(RDMA_CM_EVENT_ROUTE_RESOLVED, kConnect),
    drop(RDMA_CM_EVENT_ROUTE_RESOLVED, kDisconnect),
    drop(RDMA_CM_EVENT_ROUTE_RESOLVED, kAddrBound),
    drop(RDMA_CM_EVENT_ROUTE_RESOLVED, kListen),
    drop(RDMA_CM_EVENT_ROUTE_RESOLVED, kDeviceRemoval),
    drop(RDMA_CM_EVENT_ROUTE_RESOLVED, kDestroying),
    // ROUTE_ERROR: the route may be asked for again.
    drop(RDMA_CM_EVENT_ROUTE_ERROR, kIdle),
    drop(RDMA_CM_EVENT_ROUTE_ERROR, kAddrQuery),
    drop(RDMA_CM_EVENT_ROUTE_ERROR, kAddrResolved),
    deliver(RDMA_CM_EVENT_ROUTE_ERROR, kRouteQuery, kAddrResolved),
    drop(RDMA_CM_EVENT_ROUTE_ERROR, kRouteResolved),
    drop(RDMA_CM_EVENT_ROUTE_ERROR, kConnect),
    drop(RDMA_CM_EVENT_ROUTE_ERROR, kDisconnect),
    drop(RDMA_CM_EVENT_ROUTE_ERROR, kAddrBound),
    drop(RDMA_CM_EVENT_ROUTE_ERROR, kListen),
    drop(RDMA_CM_EVENT_ROUTE_ERROR, kDeviceRemoval),
    drop(RDMA_CM_EVENT_ROUTE_ERROR, kDestroying),
    // CONNECT_REQUEST: only a listener hears requests (K/cma:cma_ib_req_handler).
    drop(RDMA_CM_EVENT_CONNECT_REQUEST, kIdle),
    drop(RDMA_CM_EVENT_CONNECT_REQUEST, kAddrQuery),
    drop(RDMA_CM_EVENT_CONNECT_REQUEST, kAddrResolved),
    drop(RDMA_CM_EVENT_CONNECT_REQUEST, kRouteQuery),
    drop(RDMA_CM_EVENT_CONNECT_REQUEST, kRouteResolved),
    drop(RDMA_CM_EVENT_CONNECT_REQUEST, kConnect),
    drop(RDMA_CM_EVENT_CONNECT_REQUEST, kDisconnect),
    drop(RDMA_CM_EVENT_CONNECT_REQUEST, kAddrBound),
    deliver(RDMA_CM_EVENT_CONNECT_REQUEST, kListen, kListen),
    drop(RDMA_CM_EVENT_CONNECT_REQUEST, kDeviceRemoval),
    drop(RDMA_CM_EVENT_CONNECT_REQUEST, kDestroying),
    // CONNECT_RESPONSE: everything from the CM needs CONNECT (K/cma:cma_ib_handler).
    drop(RDMA_CM_EVENT_CONNECT_RESPONSE, kIdle),
    drop(RDMA_CM_EVENT_CONNECT_RESPONSE, kAddrQuery),
    drop(RDMA_CM_EVENT_CONNECT_RESPONSE, kAddrResolved),
    drop(RDMA_CM_EVENT_CONNECT_RESPONSE, kRouteQuery),
    drop(RDMA_CM_EVENT_CONNECT_RESPONSE, kRouteResolved),
    deliver(RDMA_CM_EVENT_CONNECT_RESPONSE, kConnect, kConnect),
    drop(RDMA_CM_EVENT_CONNECT_RESPONSE, kDisconnect),
    drop(RDMA_CM_EVENT_CONNECT_RESPONSE, kAddrBound),
    drop(RDMA_CM_EVENT_CONNECT_RESPONSE, kListen),
    drop(RDMA_CM_EVENT_CONNECT_RESPONSE, kDeviceRemoval),
    drop(RDMA_CM_EVENT_CONNECT_RESPONSE, kDestroying),
    // CONNECT_ERROR: as CONNECT_RESPONSE; never from InfiniBand or RoCE themselves.
    drop(RDMA_CM_EVENT_CONNECT_ERROR, kIdle),
    drop(RDMA_CM_EVENT_CONNECT_ERROR, kAddrQuery),
    drop(RDMA_CM_EVENT_CONNECT_ERROR, kAddrResolved),
    drop(RDMA_CM_EVENT_CONNECT_ERROR, kRouteQuery),
    drop(RDMA_CM_EVENT_CONNECT_ERROR, kRouteResolved),
    deliver(RDMA_CM_EVENT_CONNECT_ERROR, kConnect, kConnect),
    drop(RDMA_CM_EVENT_CONNECT_ERROR, kDisconnect),
    drop(RDMA_CM_EVENT_CONNECT_ERROR, kAddrBound),
    drop(RDMA_CM_EVENT_CONNECT_ERROR, kListen),
    drop(RDMA_CM_EVENT_CONNECT_ERROR, kDeviceRemoval),
    drop(RDMA_CM_EVENT_CONNECT_ERROR, kDestroying),
    // UNREACHABLE: handshake given up; or the neighbour's MAC changed, which any later state hears
    // (6.3).
    drop(RDMA_CM_EVENT_UNREACHABLE, kIdle),
    drop(RDMA_CM_EVENT_UNREACHABLE, kAddrQuery),
    drop(RDMA_CM_EVENT_UNREACHABLE, kAddrResolved),
    drop(RDMA_CM_EVENT_UNREACHABLE, kRouteQuery),
    deliver(RDMA_CM_EVENT_UNREACHABLE, kRouteResolved, kRouteResolved),
    deliver(RDMA_CM_EVENT_UNREACHABLE, kConnect, kConnect),
    deliver(RDMA_CM_EVENT_UNREACHABLE, kDisconnect, kDisconnect),
    drop(RDMA_CM_EVENT_UNREACHABLE, kAddrBound),
    drop(RDMA_CM_EVENT_UNREACHABLE, kListen),
    drop(RDMA_CM_EVENT_UNREACHABLE, kDeviceRemoval),
    drop(RDMA_CM_EVENT_UNREACHABLE, kDestroying),
    // REJECTED: the id is not usable again, yet stays in CONNECT (fact 17).
    drop(RDMA_CM_EVENT_REJECTED, kIdle),
    drop(RDMA_CM_EVENT_REJECTED, kAddrQuery),
    drop(RDMA_CM_EVENT_REJECTED, kAddrResolved),
    drop(RDMA_CM_EVENT_REJECTED, kRouteQuery),
    drop(RDMA_CM_EVENT_REJECTED, kRouteResolved),
    deliver(RDMA_CM_EVENT_REJECTED, kConnect, kConnect),
    drop(RDMA_CM_EVENT_REJECTED, kDisconnect),
    drop(RDMA_CM_EVENT_REJECTED, kAddrBound),
    drop(RDMA_CM_EVENT_REJECTED, kListen),
    drop(RDMA_CM_EVENT_REJECTED, kDeviceRemoval),
    drop(RDMA_CM_EVENT_REJECTED, kDestroying),
    // ESTABLISHED: as CONNECT_RESPONSE.
    drop(RDMA_CM_EVENT_ESTABLISHED, kIdle),
    drop(RDMA_CM_EVENT_ESTABLISHED, kAddrQuery),
    drop(RDMA_CM_EVENT_ESTABLISHED, kAddrResolved),
    drop(RDMA_CM_EVENT_ESTABLISHED, kRouteQuery),
    drop(RDMA_CM_EVENT_ESTABLISHED, kRouteResolved),
    deliver(RDMA_CM_EVENT_ESTABLISHED, kConnect, kConnect),
    drop(RDMA_CM_EVENT_ESTABLISHED, kDisconnect),
    drop(RDMA_CM_EVENT_ESTABLISHED, kAddrBound),
    drop(RDMA_CM_EVENT_ESTABLISHED, kListen),
    drop(RDMA_CM_EVENT_ESTABLISHED, kDeviceRemoval),
    drop(RDMA_CM_EVENT_ESTABLISHED, kDestroying),
    // DISCONNECTED: the first of DREQ, DREP and timeout; the second finds DISCONNECT (fact 26).
    drop(RDMA_CM_EVENT_DISCONNECTED, kIdle),
    drop(RDMA_CM_EVENT_DISCONNECTED, kAddrQuery),
    drop(RDMA_CM_EVENT_DISCONNECTED, kAddrResolved),
    drop(RDMA_CM_EVENT_DISCONNECTED, kRouteQuery),
    drop(RDMA_CM_EVENT_DISCONNECTED, kRouteResolved),
    deliver(RDMA_CM_EVENT_DISCONNECTED, kConnect, kDisconnect),
    drop(RDMA_CM_EVENT_DISCONNECTED, kDisconnect),
    drop(RDMA_CM_EVENT_DISCONNECTED, kAddrBound),
    drop(RDMA_CM_EVENT_DISCONNECTED, kListen),
    drop(RDMA_CM_EVENT_DISCONNECTED, kDeviceRemoval),
    drop(RDMA_CM_EVENT_DISCONNECTED, kDestroying),
    // DEVICE_REMOVAL: whoever is bound to the device, once (6.1).
    deliver(RDMA_CM_EVENT_DEVICE_REMOVAL, kIdle, kDeviceRemoval),
    deliver(RDMA_CM_EVENT_DEVICE_REMOVAL, kAddrQuery, kDeviceRemoval),
    deliver(RDMA_CM_EVENT_DEVICE_REMOVAL, kAddrResolved, kDeviceRemoval),
    deliver(RDMA_CM_EVENT_DEVICE_REMOVAL, kRouteQuery, kDeviceRemoval),
    deliver(RDMA_CM_EVENT_DEVICE_REMOVAL, kRouteResolved, kDeviceRemoval),
    deliver(RDMA_CM_EVENT_DEVICE_REMOVAL, kConnect, kDeviceRemoval),
    deliver(RDMA_CM_EVENT_DEVICE_REMOVAL, kDisconnect, kDeviceRemoval),
    deliver(RDMA_CM_EVENT_DEVICE_REMOVAL, kAddrBound, kDeviceRemoval),
    deliver(RDMA_CM_EVENT_DEVICE_REMOVAL, kListen, kDeviceRemoval),
    drop(RDMA_CM_EVENT_DEVICE_REMOVAL, kDeviceRemoval),
    drop(RDMA_CM_EVENT_DEVICE_REMOVAL, kDestroying),
    // MULTICAST_JOIN: once it has an address an id may have joined, and what it does afterwards
    // does
    // not matter (K/cma:cma_ib_mc_handler).
    drop(RDMA_CM_EVENT_MULTICAST_JOIN, kIdle),
    deliver(RDMA_CM_EVENT_MULTICAST_JOIN, kAddrQuery, kAddrQuery),
    deliver(RDMA_CM_EVENT_MULTICAST_JOIN, kAddrResolved, kAddrResolved),
    deliver(RDMA_CM_EVENT_MULTICAST_JOIN, kRouteQuery, kRouteQuery),
    deliver(RDMA_CM_EVENT_MULTICAST_JOIN, kRouteResolved, kRouteResolved),
    deliver(RDMA_CM_EVENT_MULTICAST_JOIN, kConnect, kConnect),
    deliver(RDMA_CM_EVENT_MULTICAST_JOIN, kDisconnect, kDisconnect),
    deliver(RDMA_CM_EVENT_MULTICAST_JOIN, kAddrBound, kAddrBound),
    deliver(RDMA_CM_EVENT_MULTICAST_JOIN, kListen, kListen),
    drop(RDMA_CM_EVENT_MULTICAST_JOIN, kDeviceRemoval),
    drop(RDMA_CM_EVENT_MULTICAST_JOIN, kDestroying),
    // MULTICAST_ERROR: as MULTICAST_JOIN.
    drop(RDMA_CM_EVENT_MULTICAST_ERROR, kIdle),
    deliver(RDMA_CM_EVENT_MULTICAST_ERROR, kAddrQuery, kAddrQuery),
    deliver(RDMA_CM_EVENT_MULTICAST_ERROR, kAddrResolved, kAddrResolved),
    deliver(RDMA_CM_EVENT_MULTICAST_ERROR, kRouteQuery, kRouteQuery),
    deliver(RDMA_CM_EVENT_MULTICAST_ERROR, kRouteResolved, kRouteResolved),
    deliver(RDMA_CM_EVENT_MULTICAST_ERROR, kConnect, kConnect),
    deliver(RDMA_CM_EVENT_MULTICAST_ERROR, kDisconnect, kDisconnect),
    deliver(RDMA_CM_EVENT_MULTICAST_ERROR, kAddrBound, kAddrBound),
    deliver(RDMA_CM_EVENT_MULTICAST_ERROR, kListen, kListen),
    drop(RDMA_CM_EVENT_MULTICAST_ERROR, kDeviceRemoval),
    drop(RDMA_CM_EVENT_MULTICAST_ERROR, kDestroying),
    // ADDR_CHANGE: advisory, whoever is bound to the device (6.2).
    deliver(RDMA_CM_EVENT_ADDR_CHANGE, kIdle, kIdle),
    deliver(RDMA_CM_EVENT_ADDR_CHANGE, kAddrQuery, kAddrQuery),
    deliver(RDMA_CM_EVENT_ADDR_CHANGE, kAddrResolved, kAddrResolved),
    deliver(RDMA_CM_EVENT_ADDR_CHANGE, kRouteQuery, kRouteQuery),
    deliver(RDMA_CM_EVENT_ADDR_CHANGE, kRouteResolved, kRouteResolved),
    deliver(RDMA_CM_EVENT_ADDR_CHANGE, kConnect, kConnect),
    deliver(RDMA_CM_EVENT_ADDR_CHANGE, kDisconnect, kDisconnect),
    deliver(RDMA_CM_EVENT_ADDR_CHANGE, kAddrBound, kAddrBound),
    deliver(RDMA_CM_EVENT_ADDR_CHANGE, kListen, kListen),
    drop(RDMA_CM_EVENT_ADDR_CHANGE, kDeviceRemoval),
    drop(RDMA_CM_EVENT_ADDR_CHANGE, kDestroying),
    // TIMEWAIT_EXIT: needs DISCONNECT: never after REJECTED (fact 28).
    drop(RDMA_CM_EVENT_TIMEWAIT_EXIT, kIdle),
    drop(RDMA_CM_EVENT_TIMEWAIT_EXIT, kAddrQuery),
    drop(RDMA_CM_EVENT_TIMEWAIT_EXIT, kAddrResolved),
    drop(RDMA_CM_EVENT_TIMEWAIT_EXIT, kRouteQuery),
    drop(RDMA_CM_EVENT_TIMEWAIT_EXIT, kRouteResolved),
    drop(RDMA_CM_EVENT_TIMEWAIT_EXIT, kConnect),
    deliver(RDMA_CM_EVENT_TIMEWAIT_EXIT, kDisconnect, kDisconnect),
    drop(RDMA_CM_EVENT_TIMEWAIT_EXIT, kAddrBound),
    drop(RDMA_CM_EVENT_TIMEWAIT_EXIT, kListen),
    drop(RDMA_CM_EVENT_TIMEWAIT_EXIT, kDeviceRemoval),
    drop(RDMA_CM_EVENT_TIMEWAIT_EXIT, kDestroying),
}};

constexpr bool total_and_ordered() {
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    if (static_cast<std::size_t>(kRows[i].event) != i / kStateCount) return false;
    if (static_cast<std::size_t>(kRows[i].from) != i % kStateCount) return false;
  }
  return true;
}
static_assert(total_and_ordered(), "every event type needs one row per state, in order");

}  // namespace upcall_table

/// The row that rules events of type `event` in `from`. Constant time.
[[nodiscard]] constexpr const UpcallRow& row_of(rdma_cm_event_type event, State from) {
  return upcall_table::kRows[static_cast<std::size_t>(event) * kStateCount +
                             static_cast<std::size_t>(from)];
}

}  // namespace anyrdma::cm
