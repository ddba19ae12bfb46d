#include "cm/state.h"

namespace anyrdma::cm {

std::string_view to_string(State state) {
  switch (state) {
    case State::kIdle:
      return "RDMA_CM_IDLE";
    case State::kAddrQuery:
      return "RDMA_CM_ADDR_QUERY";
    case State::kAddrResolved:
      return "RDMA_CM_ADDR_RESOLVED";
    case State::kRouteQuery:
      return "RDMA_CM_ROUTE_QUERY";
    case State::kRouteResolved:
      return "RDMA_CM_ROUTE_RESOLVED";
    case State::kConnect:
      return "RDMA_CM_CONNECT";
    case State::kDisconnect:
      return "RDMA_CM_DISCONNECT";
    case State::kAddrBound:
      return "RDMA_CM_ADDR_BOUND";
    case State::kListen:
      return "RDMA_CM_LISTEN";
    case State::kDeviceRemoval:
      return "RDMA_CM_DEVICE_REMOVAL";
    case State::kDestroying:
      return "RDMA_CM_DESTROYING";
  }
  return "RDMA_CM_UNKNOWN";
}

std::string_view to_string(Operation operation) {
  switch (operation) {
    case Operation::kBind:
      return "bind_addr";
    case Operation::kResolveAddr:
      return "resolve_addr";
    case Operation::kResolveRoute:
      return "resolve_route";
    case Operation::kListen:
      return "listen";
    case Operation::kConnect:
      return "connect";
    case Operation::kEstablish:
      return "establish";
    case Operation::kAccept:
      return "accept";
    case Operation::kReject:
      return "reject";
    case Operation::kDisconnect:
      return "disconnect";
    case Operation::kNotify:
      return "notify";
    case Operation::kJoinMulticast:
      return "join_multicast";
    case Operation::kLeaveMulticast:
      return "leave_multicast";
    case Operation::kCreateQp:
      return "create_qp";
    case Operation::kInitQpAttr:
      return "init_qp_attr";
    case Operation::kSetTos:
      return "set_option(ID, TOS)";
    case Operation::kSetReuseAddr:
      return "set_option(ID, REUSEADDR=1)";
    case Operation::kClearReuseAddr:
      return "set_option(ID, REUSEADDR=0)";
    case Operation::kSetAfOnly:
      return "set_option(ID, AFONLY)";
    case Operation::kSetAckTimeout:
      return "set_option(ID, ACK_TIMEOUT)";
    case Operation::kSetIbPath:
      return "set_option(IB, PATH)";
    case Operation::kMigrate:
      return "migrate_id";
    case Operation::kDestroy:
      return "destroy_id";
  }
  return "unknown";
}

}  // namespace anyrdma::cm
