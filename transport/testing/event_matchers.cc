#include "transport/testing/event_matchers.h"

namespace anyrdma::transport::testing {

std::string_view event_name(rdma_cm_event_type type) {
  switch (type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      return "ADDR_RESOLVED";
    case RDMA_CM_EVENT_ADDR_ERROR:
      return "ADDR_ERROR";
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      return "ROUTE_RESOLVED";
    case RDMA_CM_EVENT_ROUTE_ERROR:
      return "ROUTE_ERROR";
    case RDMA_CM_EVENT_CONNECT_REQUEST:
      return "CONNECT_REQUEST";
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
      return "CONNECT_RESPONSE";
    case RDMA_CM_EVENT_CONNECT_ERROR:
      return "CONNECT_ERROR";
    case RDMA_CM_EVENT_UNREACHABLE:
      return "UNREACHABLE";
    case RDMA_CM_EVENT_REJECTED:
      return "REJECTED";
    case RDMA_CM_EVENT_ESTABLISHED:
      return "ESTABLISHED";
    case RDMA_CM_EVENT_DISCONNECTED:
      return "DISCONNECTED";
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      return "DEVICE_REMOVAL";
    case RDMA_CM_EVENT_MULTICAST_JOIN:
      return "MULTICAST_JOIN";
    case RDMA_CM_EVENT_MULTICAST_ERROR:
      return "MULTICAST_ERROR";
    case RDMA_CM_EVENT_ADDR_CHANGE:
      return "ADDR_CHANGE";
    case RDMA_CM_EVENT_TIMEWAIT_EXIT:
      return "TIMEWAIT_EXIT";
  }
  return "UNKNOWN";
}

}  // namespace anyrdma::transport::testing
