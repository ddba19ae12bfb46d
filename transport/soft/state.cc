#include "transport/soft/state.h"

#include <cerrno>
#include <initializer_list>

#include "verbs/assert.h"

namespace anyrdma::transport::soft {
namespace {

using enum State;

/// Some of the states of an id that is there.
class States {
 public:
  constexpr States(std::initializer_list<State> members) {
    for (const State member : members) bits_ |= bit(member);
  }
  [[nodiscard]] constexpr bool has(State state) const { return (bits_ & bit(state)) != 0; }
  [[nodiscard]] constexpr States without(State state) const {
    States rest = *this;
    rest.bits_ &= static_cast<std::uint16_t>(~bit(state));
    return rest;
  }

 private:
  static constexpr std::uint16_t bit(State state) {
    return static_cast<std::uint16_t>(1u << static_cast<unsigned>(state));
  }
  std::uint16_t bits_ = 0;
};

constexpr States kAny{kIdle,    kAddrQuery,  kAddrResolved, kRouteQuery, kRouteResolved,
                      kConnect, kDisconnect, kAddrBound,    kListen};

/// What else a call needs.
enum class Need : std::uint8_t { kNothing, kDevice, kCmId, kReliable, kDatagramsOnDevice };

/// A call goes on in the states of `in` if it has what it needs. Else it is EINVAL.
struct CallRule {
  Call call;
  States in;
  Need need = Need::kNothing;
};

constexpr CallRule kCallRules[] = {
    {Call::kBind, {kIdle}},                     // cma.c:rdma_bind_addr
    {Call::kResolveAddr, {kIdle, kAddrBound}},  // cma.c:rdma_resolve_addr
    {Call::kResolveRoute, {kAddrResolved}},     // cma.c:rdma_resolve_route
    {Call::kListen, {kIdle, kAddrBound}},       // cma.c:rdma_listen
    {Call::kConnect, {kRouteResolved}},         // cma.c:rdma_connect_locked
    {Call::kEstablish, {kConnect}},             // cma.c:rdma_accept, without parameters
    {Call::kAccept, {kConnect}},                // cma.c:rdma_accept
    {Call::kReject, kAny, Need::kCmId},         // cma.c:rdma_reject; the rest is cm.c's
    {Call::kDisconnect, kAny, Need::kCmId},     // cma.c:rdma_disconnect
    {Call::kNotify, kAny, Need::kCmId},         // cma.c:rdma_notify
    {Call::kJoinMulticast,                      // cma.c:rdma_join_multicast
     {kAddrBound, kAddrResolved},
     Need::kDatagramsOnDevice},
    {Call::kLeaveMulticast, kAny},                  // ucma.c:ucma_leave_multicast
    {Call::kInitQpAttr, kAny, Need::kDevice},       // ucma.c:ucma_init_qp_attr; the rest is cm.c's
    {Call::kSetTos, kAny},                          // cma.c:rdma_set_service_type
    {Call::kSetReuseAddr, kAny.without(kListen)},   // cma.c:rdma_set_reuseaddr
    {Call::kClearReuseAddr, {kIdle}},               // the same
    {Call::kSetAfOnly, {kIdle, kAddrBound}},        // cma.c:rdma_set_afonly
    {Call::kSetAckTimeout, kAny, Need::kReliable},  // cma.c:rdma_set_ack_timeout
    {Call::kSetIbPath, {kAddrResolved}},            // cma.c:rdma_set_ib_path
    {Call::kQuery, kAny},                           // ucma.c:ucma_query
};

bool has(const Standing& standing, Need need) {
  switch (need) {
    case Need::kNothing:
      return true;
    case Need::kDevice:
      return standing.on_device;
    case Need::kCmId:
      return standing.has_cm_id;
    case Need::kReliable:
      return standing.type == IBV_QPT_RC || standing.type == IBV_QPT_XRC_SEND;
    case Need::kDatagramsOnDevice:
      return standing.on_device && standing.type == IBV_QPT_UD;
  }
  return false;
}

/// An event is heard of in the states of `in`, and moves the id to `next`, if to any.
struct EventRule {
  rdma_cm_event_type event;
  States in;
  std::optional<State> next{};
};

constexpr EventRule kEventRules[] = {
    // cma.c:addr_handler.
    {RDMA_CM_EVENT_ADDR_RESOLVED, {kAddrQuery}, kAddrResolved},
    {RDMA_CM_EVENT_ADDR_ERROR, {kAddrQuery}, kAddrBound},
    // cma.c:cma_sidr_rep_handler: the answer's QKey does not fit.
    {RDMA_CM_EVENT_ADDR_ERROR, {kConnect}},
    // cma.c:cma_work_handler, and ucma.c:ucma_set_ib_path, which does not ask.
    {RDMA_CM_EVENT_ROUTE_RESOLVED, {kRouteQuery, kRouteResolved}, kRouteResolved},
    {RDMA_CM_EVENT_ROUTE_ERROR, {kRouteQuery}, kAddrResolved},
    {RDMA_CM_EVENT_CONNECT_REQUEST, {kListen}},  // cma.c:cma_ib_req_handler
    // cma.c:cma_ib_handler: all that the CM says needs CONNECT, and is no reason to leave it; but
    // what says that the connection is over, which is heard once.
    {RDMA_CM_EVENT_CONNECT_RESPONSE, {kConnect}},
    {RDMA_CM_EVENT_CONNECT_ERROR, {kConnect}},
    {RDMA_CM_EVENT_REJECTED, {kConnect}},
    {RDMA_CM_EVENT_ESTABLISHED, {kConnect}},
    {RDMA_CM_EVENT_DISCONNECTED, {kConnect}, kDisconnect},
    {RDMA_CM_EVENT_TIMEWAIT_EXIT, {kDisconnect}},
    // The same; or cma.c:cma_netevent_work_handler, the neighbour's link address has changed.
    {RDMA_CM_EVENT_UNREACHABLE, {kRouteResolved, kConnect, kDisconnect}},
    // cma.c:cma_ib_mc_handler: once it has an address an id may have joined.
    {RDMA_CM_EVENT_MULTICAST_JOIN, kAny.without(kIdle)},
    {RDMA_CM_EVENT_MULTICAST_ERROR, kAny.without(kIdle)},
    {RDMA_CM_EVENT_ADDR_CHANGE, kAny},  // cma.c:cma_ndev_work_handler
    // cma.c:cma_send_device_removal_put, which is in that state already.
    {RDMA_CM_EVENT_DEVICE_REMOVAL, {kDeviceRemoval}},
};

}  // namespace

std::string_view to_string(State state) {
  switch (state) {
    case kIdle:
      return "RDMA_CM_IDLE";
    case kAddrQuery:
      return "RDMA_CM_ADDR_QUERY";
    case kAddrResolved:
      return "RDMA_CM_ADDR_RESOLVED";
    case kRouteQuery:
      return "RDMA_CM_ROUTE_QUERY";
    case kRouteResolved:
      return "RDMA_CM_ROUTE_RESOLVED";
    case kConnect:
      return "RDMA_CM_CONNECT";
    case kDisconnect:
      return "RDMA_CM_DISCONNECT";
    case kAddrBound:
      return "RDMA_CM_ADDR_BOUND";
    case kListen:
      return "RDMA_CM_LISTEN";
    case kDeviceRemoval:
      return "RDMA_CM_DEVICE_REMOVAL";
    case kDestroying:
      return "RDMA_CM_DESTROYING";
  }
  return "RDMA_CM_UNKNOWN";
}

int verdict_on(Call call, const Standing& standing) {
  if (standing.state == kDeviceRemoval) return ENXIO;  // ucma.c:ucma_close_id
  for (const CallRule& rule : kCallRules) {
    if (rule.call == call) {
      return rule.in.has(standing.state) && has(standing, rule.need) ? 0 : EINVAL;
    }
  }
  CM_ASSERT(!"every call has a rule");
  return EINVAL;
}

std::optional<State> state_after(rdma_cm_event_type event, State state) {
  for (const EventRule& rule : kEventRules) {
    if (rule.event == event && rule.in.has(state)) return rule.next.value_or(state);
  }
  return std::nullopt;
}

}  // namespace anyrdma::transport::soft
