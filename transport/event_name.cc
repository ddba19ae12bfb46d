#include "transport/event_name.h"

#include <array>
#include <cstddef>

namespace anyrdma::transport {
namespace {

constexpr std::string_view kPrefix = "RDMA_CM_EVENT_";

// In the order of the enumerators.
constexpr std::array kNames{
    "RDMA_CM_EVENT_ADDR_RESOLVED",     "RDMA_CM_EVENT_ADDR_ERROR",
    "RDMA_CM_EVENT_ROUTE_RESOLVED",    "RDMA_CM_EVENT_ROUTE_ERROR",
    "RDMA_CM_EVENT_CONNECT_REQUEST",   "RDMA_CM_EVENT_CONNECT_RESPONSE",
    "RDMA_CM_EVENT_CONNECT_ERROR",     "RDMA_CM_EVENT_UNREACHABLE",
    "RDMA_CM_EVENT_REJECTED",          "RDMA_CM_EVENT_ESTABLISHED",
    "RDMA_CM_EVENT_DISCONNECTED",      "RDMA_CM_EVENT_DEVICE_REMOVAL",
    "RDMA_CM_EVENT_MULTICAST_JOIN",    "RDMA_CM_EVENT_MULTICAST_ERROR",
    "RDMA_CM_EVENT_ADDR_CHANGE",       "RDMA_CM_EVENT_TIMEWAIT_EXIT",
    "RDMA_CM_EVENT_ADDRINFO_RESOLVED", "RDMA_CM_EVENT_ADDRINFO_ERROR",  // since rdma-core 60
};
static_assert(kNames.size() == RDMA_CM_EVENT_TIMEWAIT_EXIT + 3);

}  // namespace

// In C any number may come as an enumerator; UBSan objects to that in C++.
__attribute__((no_sanitize("undefined"))) const char* event_name(rdma_cm_event_type type) {
  const auto index = static_cast<std::size_t>(type);
  return index < kNames.size() ? kNames[index] : "UNKNOWN EVENT";
}

std::string_view short_event_name(rdma_cm_event_type type) {
  std::string_view name = event_name(type);
  if (name.starts_with(kPrefix)) name.remove_prefix(kPrefix.size());
  return name;
}

}  // namespace anyrdma::transport
